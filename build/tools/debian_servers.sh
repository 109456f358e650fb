# Finds or unpacks the real servers that some tests fetch artifacts from; read by ../../dev. Without them those tests
# say why they are skipped: nothing else needs them.
# shellcheck shell=bash

# Program, and where its package of the same name has it.
readonly -A DEBIAN_SERVERS=([nginx]=usr/sbin/nginx [docker-registry]=usr/bin/docker-registry)

# One try: a machine that has no such package has none the next time either. `./dev clean` forgets it.
debian_servers_ready() { [[ -e $TOOLS/debian-servers ]]; }

server_runs() { "$1" --version >/dev/null 2>&1 || "$1" -v >/dev/null 2>&1; }

package_candidate() {
  apt-cache -c "$1" policy "$2" 2>/dev/null | sed -n 's/^ *Candidate: *//p' | sed '/^(none)$/d'
}

# apt verifies signature and digest.
unpack_server() {
  local conf=$1 name=$2 dir=$TEMP/server-$2 candidate
  candidate=$(package_candidate "$conf" "$name")
  [[ -n $candidate ]] || return 1
  say "unpacking $name $candidate from its package (1 to 5 MB)"
  mkdir -p "$dir"
  (cd -- "$dir" && apt-get -c "$conf" -qq download "$name=$candidate") >&2 || return 1
  dpkg-deb -x "$dir/$name"_*.deb "$dir/root" || return 1
  server_runs "$dir/root/${DEBIAN_SERVERS[$name]}" || return 1
  publish "$dir/root/${DEBIAN_SERVERS[$name]}" "$name"
}

# A configuration of apt that knows packages: the machine's own, or its suite's index read anew.
server_conf() {
  local dir=$TEMP/apt-servers codename mirror components=main
  write_apt_conf "$dir"
  if [[ -z $(package_candidate "$dir/system.conf" nginx) ]]; then
    codename=$(os_release VERSION_CODENAME)
    mirror=$(machine_mirror "$codename")
    [[ -n $mirror ]] || return 1
    [[ $(os_release ID) != ubuntu ]] || components='main universe'
    say "reading the package index of $codename at $mirror (10 to 20 MB)"
    write_suite_conf "$dir" "$mirror" "$codename" "$components"
    apt-get -c "$dir/suite.conf" -qq update >&2 || return 1
    echo "$dir/suite.conf"
    return
  fi
  echo "$dir/system.conf"
}

install_debian_servers() {
  local name found missing=() conf=''
  for name in "${!DEBIAN_SERVERS[@]}"; do
    found=$(PATH=$PATH:/usr/sbin command -v "$name" || true)
    if [[ -n $found ]] && server_runs "$found"; then
      [[ $found == "$BIN/$name" ]] || publish_link "$(readlink -f -- "$found")" "$name"
    else
      missing+=("$name")
    fi
  done
  if [[ ${#missing[@]} -gt 0 && ${DEV_NO_NETWORK:-} != 1 ]] && has_apt; then
    conf=$(server_conf) || conf=''
  fi
  for name in "${missing[@]}"; do
    [[ -n $conf ]] && unpack_server "$conf" "$name" && continue
    say "no $name here: the tests that need it will say so"
  done
  : >"$TOOLS/debian-servers"
}
