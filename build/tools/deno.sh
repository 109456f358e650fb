# Finds or installs the pinned deno; read by ../../dev.
# shellcheck shell=bash

readonly DENO_VERSION=2.9.6

# The digest of the executable itself, which npm, PyPI and the release archive carry unchanged.
deno_expected_digest() {
  case $(uname -m) in
    x86_64) echo bceb5b6a6239b0b010418406d8c77a508f67cf4337d94288f1c19fe71304aab0 ;;
    aarch64) echo d08d392418df53f4e6e88a08909c0e1bccbf9adcead7232df72b6ad6075ec416 ;;
    *) return 1 ;;
  esac
}

deno_version_of() { "$1" --version 2>/dev/null | sed -n '1s/^deno \([^ ]*\).*/\1/p' || true; }

deno_digest_ok() {
  printf '%s  %s\n' "$(deno_expected_digest)" "$1" | sha256sum --check --status -
}

deno_from_npm() {
  local arch
  has npm || return 1
  case $(uname -m) in
    x86_64) arch=x64 ;;
    aarch64) arch=arm64 ;;
    *) return 1 ;;
  esac
  say "installing deno $DENO_VERSION from npm (41 MB)"
  npm install --prefix "$TEMP/npm" --cache "$TEMP/npm-cache" --no-save --ignore-scripts --no-audit --no-fund \
    --no-update-notifier --loglevel=error "@deno/linux-$arch-glibc@$DENO_VERSION" >&2 || return 1
  cp -- "$TEMP/npm/node_modules/@deno/linux-$arch-glibc/deno" "$TEMP/deno"
}

deno_from_pip() {
  local pip=()
  if has python3 && python3 -m pip --version >/dev/null 2>&1; then
    pip=(python3 -m pip)
  elif has pip3; then
    pip=(pip3)
  elif has pip; then
    pip=(pip)
  else
    return 1
  fi
  say "installing deno $DENO_VERSION from PyPI (42 MB)"
  PIP_ROOT_USER_ACTION=ignore "${pip[@]}" install --no-deps --no-cache-dir --disable-pip-version-check --target "$TEMP/pip" \
    "deno==$DENO_VERSION" >&2 || return 1
  cp -- "$TEMP/pip/bin/deno" "$TEMP/deno"
}

deno_from_release() {
  local name host
  name=deno-$(uname -m)-unknown-linux-gnu.zip
  for host in https://dl.deno.land/release https://github.com/denoland/deno/releases/download; do
    say "installing deno $DENO_VERSION from $host"
    download "$host/v$DENO_VERSION/$name" "$TEMP/$name" || continue
    if has unzip; then
      unzip -q -o "$TEMP/$name" deno -d "$TEMP" || continue
    elif has python3; then
      python3 -m zipfile -e "$TEMP/$name" "$TEMP" || continue
    else
      say 'cannot unpack the archive: neither unzip nor python3 is installed'
      return 1
    fi
    return 0
  done
  return 1
}

install_deno() {
  local found method
  found=${DEV_DENO:-$(command -v deno || true)}
  if [[ -n $found && $(deno_version_of "$found") == "$DENO_VERSION" ]]; then
    # A version manager's shim finds its program by the name it was called with: link to the program itself.
    found=$("$found" eval --no-config 'console.log(Deno.execPath())')
    say "using deno $DENO_VERSION of this machine: $found"
    publish_link "$found" deno
    return
  fi
  [[ -z ${DEV_DENO:-} ]] || die "DEV_DENO=$DEV_DENO is not deno $DENO_VERSION"
  deno_expected_digest >/dev/null ||
    die "cannot install deno $DENO_VERSION: there is none for $(uname -m); x86_64 and aarch64 are supported"
  need_network "deno $DENO_VERSION"
  for method in deno_from_npm deno_from_pip deno_from_release; do
    rm -f -- "$TEMP/deno"
    "$method" || continue
    if ! deno_digest_ok "$TEMP/deno"; then
      say "the deno of ${method#deno_from_} has not the pinned SHA-256; it is not used"
      continue
    fi
    publish "$TEMP/deno" deno
    return
  done
  die "cannot install deno $DENO_VERSION: install npm, pip, or curl with unzip; or set DEV_DENO to a deno $DENO_VERSION"
}
