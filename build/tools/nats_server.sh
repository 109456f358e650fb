# Finds or installs a nats-server that is new enough; read by ../../dev.
# shellcheck shell=bash

readonly NATS_MIN_VERSION=2.10.0
readonly NATS_GO_MODULE=github.com/nats-io/nats-server/v2@v2.15.2

nats_version_of() { "$1" --version 2>/dev/null | sed -n 's/^nats-server: v\{0,1\}\([0-9][0-9.]*\).*/\1/p' || true; }

version_at_least() {
  [[ -n $1 && $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]
}

nats_ok() { [[ -x $1 ]] && version_at_least "$(nats_version_of "$1")" "$NATS_MIN_VERSION"; }

# A configuration for apt that keeps what apt writes below .tools/ and calls no hook of the machine; the system's keys,
# sources and proxy settings are read.
write_apt_conf() {
  local dir=$1
  mkdir -p "$dir/cache/archives/partial" "$dir/log"
  cat >"$dir/system.conf" <<EOF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
Dir::Cache "$dir/cache";
Dir::Log "$dir/log";
APT::Sandbox::User "$(id -un)";
EOF
}

# The same with lists and sources of its own: SUITE of MIRROR.
write_suite_conf() {
  local dir=$1 mirror=$2 suite=$3 components=$4
  write_apt_conf "$dir"
  mkdir -p "$dir/state/lists/partial" "$dir/parts"
  : >"$dir/status"
  printf 'deb %s %s %s\n' "$mirror" "$suite" "$components" >"$dir/sources.list"
  cat "$dir/system.conf" - >"$dir/suite.conf" <<EOF
Dir::State "$dir/state";
Dir::State::lists "$dir/state/lists";
Dir::State::status "$dir/status";
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "$dir/parts";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
EOF
}

# The version of nats-server that apt would install with the configuration CONF; nothing when it knows none.
nats_candidate() {
  apt-cache -c "$1" policy nats-server 2>/dev/null | sed -n 's/^ *Candidate: *//p' | sed '/^(none)$/d'
}

# Unpacks the nats-server package of CONF, if it is new enough. apt verifies signature and digest.
nats_unpack_package() {
  local conf=$1 from=$2 candidate upstream
  candidate=$(nats_candidate "$conf")
  upstream=${candidate#*:}
  version_at_least "${upstream%%[-+~]*}" "$NATS_MIN_VERSION" || return 1
  say "installing nats-server $candidate from the package of $from (5 to 7 MB)"
  rm -rf -- "$TEMP/deb"
  mkdir -p "$TEMP/deb"
  (cd -- "$TEMP/deb" && apt-get -c "$conf" -qq download "nats-server=$candidate") >&2 || return 1
  dpkg-deb -x "$TEMP/deb/"nats-server_*.deb "$TEMP/deb/root" || return 1
  cp -- "$TEMP/deb/root/usr/sbin/nats-server" "$TEMP/nats-server" 2>/dev/null ||
    cp -- "$TEMP/deb/root/usr/bin/nats-server" "$TEMP/nats-server"
}

has_apt() { has apt-get && has apt-cache && has dpkg-deb; }

nats_from_distribution() {
  has_apt || return 1
  write_apt_conf "$TEMP/apt"
  nats_unpack_package "$TEMP/apt/system.conf" 'this distribution'
}

# The machine's own mirror usually carries the newer suites too.
nats_from_newer_suite() {
  has_apt || return 1
  local dir=$TEMP/apt codename mirror suite suites components
  codename=$(os_release VERSION_CODENAME)
  mirror=$(machine_mirror "$codename")
  [[ -n $mirror ]] || return 1
  case $(os_release ID) in
    debian) suites='trixie forky sid' components=main ;;
    ubuntu) suites='noble questing resolute' components='main universe' ;;
    *) return 1 ;;
  esac
  write_apt_conf "$dir"
  # A machine without package lists may have a new enough package in its own suite.
  [[ -n $(nats_candidate "$dir/system.conf") ]] || suites="$codename $suites"
  for suite in $suites; do
    say "reading the package index of $suite at $mirror (10 to 20 MB)"
    rm -rf -- "$dir"
    write_suite_conf "$dir" "$mirror" "$suite" "$components"
    apt-get -c "$dir/suite.conf" -qq update >&2 || continue
    nats_unpack_package "$dir/suite.conf" "$suite" || continue
    nats_ok "$TEMP/nats-server" && return 0
    say "the nats-server of $suite does not run here"
  done
  return 1
}

os_release() { sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/p" /etc/os-release 2>/dev/null | head -n 1; }

# The first configured mirror of the distribution itself, whether its package lists are here or not.
machine_mirror() {
  apt-get update --print-uris 2>/dev/null |
    sed -nE "s/^'(.*[^/])\/*\/dists\/($1|oldstable|stable|testing|unstable|sid)\/InRelease'.*/\1/p" | head -n 1
}

nats_from_go() {
  has go || return 1
  say "building $NATS_GO_MODULE with go (about a minute)"
  local settings=${GOENV:-${XDG_CONFIG_HOME:-$HOME/.config}/go/env}
  # go keeps counters in the user's configuration folder: send them to the temporary one, but read the settings there.
  GOENV=$settings XDG_CONFIG_HOME=$TEMP/config GOBIN=$TEMP/gobin GOPATH=$TEMP/gopath GOMODCACHE=$TEMP/gopath/mod \
    GOCACHE=$TEMP/gocache GOFLAGS=-modcacherw go install "$NATS_GO_MODULE" >&2 || return 1
  cp -- "$TEMP/gobin/nats-server" "$TEMP/nats-server"
}

install_nats_server() {
  local found method
  found=$(command -v nats-server || true)
  if [[ -n $found ]] && nats_ok "$found"; then
    say "using nats-server $(nats_version_of "$found") of this machine: $found"
    publish_link "$(readlink -f -- "$found")" nats-server
    return
  fi
  need_network nats-server
  for method in nats_from_distribution nats_from_newer_suite nats_from_go; do
    rm -f -- "$TEMP/nats-server"
    "$method" || continue
    if ! nats_ok "$TEMP/nats-server"; then
      say "the nats-server of ${method#nats_from_} does not run here or is too old"
      continue
    fi
    publish "$TEMP/nats-server" nats-server
    return
  done
  die "cannot install nats-server: install version ${NATS_MIN_VERSION%.0} or newer, or set HARMONY_NATS_SERVER to its path"
}
