#!/bin/sh
# Sets a device up for Harmony Fleet from a release folder or an https URL that serves one: `install.sh --help`.
#
# Every change is one rename, or a command that may be repeated; what still has to be restarted is written down before
# it is changed. So whatever moment this is killed at, the device works, and running it again finishes the work.

set -eu
umask 022
LC_ALL=C
export LC_ALL

LIBRARY=/usr/lib/harmony-fleet
STATE=/var/lib/harmony-fleet
CONFIG=/etc/harmony-fleet
UNITS=/etc/systemd/system
AGENT_LINK=/usr/local/bin/fleet-agent
UPDATER_LINK=/usr/local/sbin/fleet-updater
DENO=$LIBRARY/deno
ACCOUNT=fleet-agent
TEMP=.harmony-install

EXIT_BUSY=4
EXIT_USAGE=64
EXIT_ENVIRONMENT=75

# Times as in the units: how long the agent may take until it is ready, and the updater's bound on top.
READY_SECONDS=255

usage() {
  cat <<'EOF'
usage: install.sh [--from DIR|URL] --device-id ID --nats-server URL [OPTIONS]     set a device up, or mend it
       install.sh [--from DIR|URL] [OPTIONS]                                      upgrade the updater, keep the rest
       install.sh --uninstall [--purge]                                           remove programs and units

Takes a release folder: verifies it against its SHA256SUMS, makes the user fleet-agent, directories, configuration, units
and links, starts updater and agent, and waits until the agent is READY. Repeat it at will: what is right stays.

release:
  --from DIR|URL             the release folder, or an https URL that serves it; default: where install.sh stands
  --sums-sha256 HEX          SHA-256 that the release's SHA256SUMS must have
  --form compiled|script     default: compiled where the release has it and the kernel's pages are 4 KiB, else script
  --deno FILE                the deno that runs the script form; default: the release's, the installed, the one in PATH
  --switch-agent             select this release's agent although the device has another one selected

configuration (any of these writes the whole configuration; none keeps what the device has):
  --device-id ID             name of the device
  --nats-server URL          tls://host:4222 or nats://host:4222; may be repeated
  --nats-user NAME           with --nats-password-file FILE
  --token-file FILE          instead of user and password
  --creds-file FILE          a NATS credentials file, instead of user and password
  --ca-file FILE             certificates (PEM) that NATS is trusted by
  --artifact-ca-file FILE    certificates (PEM) that artifact hosts are trusted by, beside the system's
  --podman                   let the agent run the containers of deployments, with the rootless Podman of its user
  --agent-config FILE        a whole agent.json, instead of all that is for NATS and Podman
  --updater-config FILE      a whole updater.json

other:
  --dry-run                  print what would change, and change nothing
  --no-start                 neither start nor restart anything
  --root DIR                 prepare the image of a system below DIR: nothing is started, the first boot makes the user
  --arch x86_64|aarch64      of that image; default: this machine's
  --live                     with --root: use the system's commands all the same (tests)
  --uninstall                stop and remove programs, links and units; configuration and data stay
  --purge                    with --uninstall: remove configuration, data and the user too
  --help                     this text

exit codes: 0 done, 1 refused or failed, 4 an upgrade is under way, 64 wrong command line,
            75 installed, but the agent waits for network, NATS or clock: it goes on trying by itself
EOF
}

say() { printf '%s\n' "$*"; }
complain() { printf 'install.sh: %s\n' "$*" >&2; }
die() {
  complain "$*"
  exit 1
}
misused() {
  complain "$*; see install.sh --help"
  exit "$EXIT_USAGE"
}
has() { command -v "$1" >/dev/null 2>&1; }

# ---- Command line ----

parse() {
  root='' from='' sums_sha256='' form=auto deno_given='' arch='' action=install
  switch_agent=no dry=no start=yes live=no purge=no
  device_id='' servers='' user='' password_file='' token_file='' creds_file='' ca_file='' artifact_ca_file=''
  podman='' agent_config='' updater_config=''
  while [ $# -gt 0 ]; do
    case $1 in
      --dry-run) dry=yes ;;
      --no-start) start=no ;;
      --live) live=yes ;;
      --switch-agent) switch_agent=yes ;;
      --podman) podman=yes ;;
      --uninstall) action=uninstall ;;
      --purge) purge=yes ;;
      -h | --help) usage && exit 0 ;;
      --*=*)
        parse_option=${1%%=*}
        parse_value=${1#*=}
        shift
        set -- "$parse_option" "$parse_value" "$@"
        continue
        ;;
      --from | --sums-sha256 | --form | --deno | --root | --arch | --device-id | --nats-server | --nats-user | \
        --nats-password-file | --token-file | --creds-file | --ca-file | --artifact-ca-file | --agent-config | \
        --updater-config)
        if [ $# -lt 2 ] || [ -z "$2" ]; then misused "$1 needs a value"; fi
        parse_value "$1" "$2"
        shift
        ;;
      *) misused "unknown option: $1" ;;
    esac
    shift
  done
  check_command_line
}

parse_value() {
  case $1 in
    --from) from=$2 ;;
    --sums-sha256) sums_sha256=$2 ;;
    --form) form=$2 ;;
    --deno) deno_given=$2 ;;
    --root) root=$2 ;;
    --arch) arch=$2 ;;
    --device-id) device_id=$2 ;;
    --nats-server)
      matches "$2" '(nats|tls)://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?/?' ||
        misused '--nats-server: must be like tls://host:4222, without a user'
      servers="$servers${servers:+ }$2"
      ;;
    --nats-user) user=$2 ;;
    --nats-password-file) password_file=$2 ;;
    --token-file) token_file=$2 ;;
    --creds-file) creds_file=$2 ;;
    --ca-file) ca_file=$2 ;;
    --artifact-ca-file) artifact_ca_file=$2 ;;
    --agent-config) agent_config=$2 ;;
    --updater-config) updater_config=$2 ;;
  esac
}

# Whether TEXT, one line, is PATTERN as a whole.
matches() {
  case $1 in
    *'
'*) return 1 ;;
  esac
  printf '%s\n' "$1" | grep -Eqx -e "$2"
}

check_command_line() {
  case $form in auto | compiled | script) ;; *) misused "--form: \"$form\" is not compiled or script" ;; esac
  case $arch in '' | x86_64 | aarch64) ;; *) misused "--arch: \"$arch\" is not x86_64 or aarch64" ;; esac
  [ -z "$sums_sha256" ] || matches "$sums_sha256" '[0-9a-f]{64}' || misused '--sums-sha256: must be 64 hexadecimal digits'
  [ "$live" = no ] || [ -n "$root" ] || misused '--live belongs to --root'
  [ "$purge" = no ] || [ "$action" = uninstall ] || misused '--purge belongs to --uninstall'
  [ -n "$root" ] || live=yes
  if [ -n "$root" ]; then
    [ -d "$root" ] || misused "--root: $root is not a directory"
    root=$(cd -- "$root" && pwd -P)
    [ "$root" != / ] || root=''
    [ -n "$root" ] || live=yes
  fi
  configured=no
  [ -z "$device_id$servers$user$password_file$token_file$creds_file$ca_file$artifact_ca_file$podman" ] || configured=yes
  [ -z "$agent_config$updater_config" ] || configured=yes
  [ "$configured" = no ] || check_configuration
}

check_configuration() {
  for check_file in "$password_file" "$token_file" "$creds_file" "$ca_file" "$artifact_ca_file" "$agent_config" \
    "$updater_config"; do
    [ -z "$check_file" ] || { [ -r "$check_file" ] && [ ! -d "$check_file" ]; } || die "cannot read $check_file"
  done
  if [ -z "$agent_config" ] || [ -z "$updater_config" ]; then
    [ -n "$device_id" ] || misused 'the configuration needs --device-id'
    matches "$device_id" '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?' ||
      misused "--device-id: \"$device_id\" must be 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends"
  fi
  if [ -n "$agent_config" ]; then
    [ -z "$servers$user$password_file$token_file$creds_file$ca_file$podman" ] ||
      misused '--agent-config stands instead of the options for NATS and Podman'
    return 0
  fi
  [ -n "$servers" ] || misused 'the configuration needs --nats-server'
  [ -z "$user" ] || matches "$user" '[A-Za-z0-9._@-]{1,128}' || misused '--nats-user: must be 1 to 128 of A-Z a-z 0-9 . _ @ -'
  check_logins=0
  [ -z "$user$password_file" ] || check_logins=$((check_logins + 1))
  [ -z "$token_file" ] || check_logins=$((check_logins + 1))
  [ -z "$creds_file" ] || check_logins=$((check_logins + 1))
  [ "$check_logins" -le 1 ] || misused 'more than one login: want --nats-user with --nats-password-file, or one file'
  if [ -n "$user" ]; then
    [ -n "$password_file" ] || misused '--nats-user needs --nats-password-file'
  else
    [ -z "$password_file" ] || misused '--nats-password-file needs --nats-user'
  fi
}

# ---- The system ----

check_system() {
  [ "$(uname -s)" = Linux ] || die "cannot install on $(uname -s): Harmony Fleet runs on Linux"
  machine=$(uname -m)
  [ "$machine" != arm64 ] || machine=aarch64
  arch=${arch:-$machine}
  case $arch in
    x86_64 | aarch64) ;;
    *) die "cannot install on $arch: there are programs for x86_64 and aarch64" ;;
  esac
  for check_command in sha256sum awk sed grep cmp stat mktemp getconf; do
    has "$check_command" || die "cannot install: the command $check_command is missing"
  done
  if [ "$live" = yes ]; then
    [ "$arch" = "$machine" ] || die "cannot install: this machine is $machine, not $arch; --arch belongs to --root"
    [ "$(getconf LONG_BIT)" = 64 ] || die 'cannot install: this is a 32-bit system on a 64-bit kernel; install a 64-bit one'
    check_libc
    [ "$(id -u)" = 0 ] || [ "$dry" = yes ] || die 'cannot install: must run as root'
    { [ -d "$root/run/systemd/system" ] && has systemctl; } || die 'cannot install: systemd does not run this system'
  fi
}

# The runtime needs glibc 2.27; musl has no such variable.
check_libc() {
  check_libc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || check_libc=''
  case $check_libc in
    'glibc '[3-9]* | 'glibc 2.'[3-9][0-9]* | 'glibc 2.'[1-9][0-9][0-9]* | 'glibc 2.27'* | 'glibc 2.28'* | 'glibc 2.29'*) ;;
    *) die "cannot install: glibc 2.27 or newer is needed, this is ${check_libc:-another C library}" ;;
  esac
}

take_lock() {
  [ "$live" = yes ] && [ "$dry" = no ] || return 0
  has flock || return 0
  exec 9>"$root/run/harmony-fleet-setup.lock"
  flock -n 9 || die 'cannot go on: another install.sh runs'
}

# Runs a command that may take long, with a sign of life every two seconds. The ticker ends with us, even killed.
slowly() {
  slowly_what=$1
  shift
  (
    slowly_seconds=2
    while sleep 2 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
      say "  ... $slowly_what, $slowly_seconds s"
      slowly_seconds=$((slowly_seconds + 2))
    done
  ) 9>&- &
  slowly_ticker=$!
  slowly_code=0
  "$@" || slowly_code=$?
  # Not TERM: a subshell that has only just begun still has our trap, and would lose it.
  kill -KILL "$slowly_ticker" 2>/dev/null || :
  wait "$slowly_ticker" 2>/dev/null || :
  return "$slowly_code"
}

# ---- The release ----

open_release() {
  if [ -z "$from" ]; then
    from=$(dirname -- "$0")
    [ -f "$from/SHA256SUMS" ] || misused "there is no release beside $0: give --from"
  fi
  make_work
  case $from in
    https://*)
      from=${from%/}
      has curl || has wget || die 'cannot fetch the release: neither curl nor wget is installed'
      ;;
    *://*) misused "--from: $from is neither a folder nor an https URL" ;;
    *) [ -f "$from/SHA256SUMS" ] || die "cannot use $from: it is not a release folder (no SHA256SUMS)" ;;
  esac
  copy_from_release SHA256SUMS "$work/SHA256SUMS"
  [ -z "$sums_sha256" ] || [ "$(digest_of "$work/SHA256SUMS")" = "$sums_sha256" ] ||
    die "cannot use $from: its SHA256SUMS is not the one that --sums-sha256 names"
  fetch_verified VERSION "$work/VERSION"
  read -r version <"$work/VERSION" || :
  matches "$version" '[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?' || die "cannot use $from: \"$version\" is no version"
  [ "${#version}" -le 64 ] || die "cannot use $from: its version has more than 64 characters"
  say "Release $version from $from"
}

# What is unfinished goes at the end; a run that is killed leaves it to the next one.
make_work() {
  work=$(mktemp -d)
  trap 'remove_leftovers; rm -rf -- "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

copy_from_release() {
  case $from in
    https://*)
      if has curl; then
        slowly "fetching $1" curl -fsSL --max-redirs 0 --proto '=https' --retry 3 --connect-timeout 15 --speed-limit 1000 \
          --speed-time 60 -o "$2" "$from/$1" || die "cannot fetch $from/$1"
      else
        slowly "fetching $1" wget -q --https-only --max-redirect=0 --tries=3 --timeout=60 -O "$2" "$from/$1" ||
          die "cannot fetch $from/$1"
      fi
      ;;
    *) cp -- "$from/$1" "$2" || die "cannot read $from/$1" ;;
  esac
}

digest_of() { sha256sum <"$1" | cut -c 1-64; }

# The digest that SHA256SUMS names for a path of the release; nothing when the release does not have it.
release_digest() { awk -v path="$1" '$2 == path && length($1) == 64 { print $1; exit }' "$work/SHA256SUMS"; }

fetch_verified() {
  fetch_want=$(release_digest "$1")
  [ -n "$fetch_want" ] || die "cannot use $from: its SHA256SUMS does not name $1"
  copy_from_release "$1" "$2"
  [ "$(digest_of "$2")" = "$fetch_want" ] || die "cannot use $from: $1 is not what SHA256SUMS says"
}

choose_form() {
  if [ "$form" = auto ]; then
    form=compiled
    # Compiled programs are reported to crash where pages are larger (deno issue 36282); scripts are not.
    [ "$live" = no ] || [ "$(getconf PAGESIZE)" = 4096 ] || form=script
    [ -n "$(release_digest "bin/$arch/fleet-updater")" ] || form=script
  fi
  programs=bin/$arch
  [ "$form" = compiled ] || programs=bin/script
  for choose_program in fleet-agent fleet-updater; do
    [ -n "$(release_digest "$programs/$choose_program")" ] ||
      die "cannot use $from: it has no $choose_program for $arch in the $form form"
  done
  [ "$form" = compiled ] || choose_deno
  say "Form $form for $arch"
}

# Whether a file is an ELF program for the architecture: magic, and the machine in bytes 18 and 19.
is_program() {
  [ -f "$1" ] && [ "$(od -An -tx1 -N4 "$1" | tr -d ' \n')" = 7f454c46 ] || return 1
  case $arch/$(od -An -tx1 -j18 -N2 "$1" | tr -d ' \n') in x86_64/3e00 | aarch64/b700) ;; *) return 1 ;; esac
}

# Sets deno_file to a deno on this machine, or deno_path to one in the release; neither: the installed one stays.
choose_deno() {
  deno_file='' deno_path=''
  if [ -n "$deno_given" ]; then
    deno_file=$(readlink -f -- "$deno_given") || deno_file=$deno_given
    is_program "$deno_file" || die "cannot use $deno_given: it is not a program for $arch"
  elif [ -n "$(release_digest "runtime/$arch/deno")" ]; then
    deno_path=runtime/$arch/deno
  elif [ ! -f "$root$DENO" ]; then
    [ "$live" = no ] || ! has deno || deno_file=$(readlink -f -- "$(command -v deno)") || :
    { [ -n "$deno_file" ] && is_program "$deno_file"; } ||
      die 'cannot install the script form: it needs deno 2.9; give --deno FILE, or a release with runtime/'
  fi
}

# ---- One change at a time ----

changes=0
changed() {
  changes=$((changes + 1))
  if [ "$dry" = yes ]; then say "would $1"; else say "+ $1"; fi
}

# Writes down what has to be restarted, before the change that makes it necessary.
mark() {
  [ "$live" = yes ] || return 0
  for mark_what in "$@"; do
    [ "$dry" = yes ] || [ -e "$root$STATE/setup-$mark_what" ] || {
      : >"$root$STATE/setup-$mark_what"
      flush "$root$STATE"
    }
  done
}
marked() { [ -e "$root$STATE/setup-$1" ]; }
unmark() { rm -f -- "$root$STATE/setup-$1"; }

flush() { sync "$1" 2>/dev/null || sync; }

# Owners are those of the device: an image gets them at its first boot.
own() { [ "$live" = no ] || chown "$1" "$2"; }

mode_is() { [ "$(stat -c %a "$1")" = "$2" ]; }
owner_is() { [ -n "$root" ] || [ "$(stat -c %U:%G "$1")" = "$2" ]; }

# put_directory PATH MODE OWNER:GROUP
put_directory() {
  if [ -d "$root$1" ]; then
    ! mode_is "$root$1" "$2" || ! owner_is "$root$1" "$3" || return 0
    changed "set mode and owner of $1"
    [ "$dry" = no ] || return 0
  else
    changed "make $1"
    [ "$dry" = no ] || return 0
    (umask 077 && mkdir -p -- "$root$1")
  fi
  own "$3" "$root$1"
  chmod "$2" "$root$1"
}

# The folders of the system that a minimal image may lack.
put_parent() {
  [ -d "$root$1" ] || [ "$dry" = yes ] || mkdir -p -- "$root$1"
}

temp_of() { printf '%s/%s.%s' "$(dirname -- "$root$1")" "$TEMP" "$(basename -- "$1")"; }

# publish PATH MODE OWNER:GROUP: gives what stands at the temporary name its place.
publish() {
  publish_temp=$(temp_of "$1")
  own "$3" "$publish_temp"
  chmod "$2" "$publish_temp"
  flush "$publish_temp"
  mv -f -T -- "$publish_temp" "$root$1"
  flush "$(dirname -- "$root$1")"
}

# put_file SOURCE PATH MODE OWNER:GROUP MARKS: a file of this machine, such as a configuration.
put_file() {
  if [ -f "$root$2" ] && [ ! -L "$root$2" ] && cmp -s -- "$1" "$root$2" && mode_is "$root$2" "$3" &&
    owner_is "$root$2" "$4"; then
    return 0
  fi
  changed "write $2"
  [ "$dry" = no ] || return 0
  # shellcheck disable=SC2086 # a list of words
  mark $5
  (umask 077 && cat -- "$1" >"$(temp_of "$2")")
  publish "$2" "$3" "$4"
}

# put_release PATH-IN-RELEASE PATH MODE MARKS: a file of the release, verified.
put_release() {
  ! is_release_file "$1" "$2" "$3" || return 0
  changed "install $2"
  [ "$dry" = no ] || return 0
  # shellcheck disable=SC2086 # a list of words
  mark $4
  put_temp=$(temp_of "$2")
  if [ ! -f "$put_temp" ] || [ "$(digest_of "$put_temp")" != "$(release_digest "$1")" ]; then
    fetch_verified "$1" "$put_temp"
  fi
  publish "$2" "$3" root:root
}

is_release_file() {
  [ -f "$root$2" ] && [ ! -L "$root$2" ] && mode_is "$root$2" "$3" && owner_is "$root$2" root:root &&
    [ "$(digest_of "$root$2")" = "$(release_digest "$1")" ]
}

# put_link TARGET PATH MARKS
put_link() {
  [ "$(readlink -- "$root$2" || :)" != "$1" ] || return 0
  changed "link $2 to $1"
  [ "$dry" = no ] || return 0
  # shellcheck disable=SC2086 # a list of words
  mark $3
  rm -f -- "$(temp_of "$2")"
  ln -s -- "$1" "$(temp_of "$2")"
  mv -f -T -- "$(temp_of "$2")" "$root$2"
  flush "$(dirname -- "$root$2")"
}

remove() {
  [ -e "$root$1" ] || [ -L "$root$1" ] || return 0
  changed "remove $1"
  [ "$dry" = yes ] || rm -rf -- "$root$1"
}

remove_leftovers() {
  [ "$dry" = no ] || return 0
  for leftover_folder in "$LIBRARY" "$CONFIG" "$UNITS" /usr/local/bin /usr/local/sbin; do
    rm -f -- "$root$leftover_folder/$TEMP".*
  done
}

# ---- An upgrade that is under way ----

# Runs a program of the release or of the device; a script finds its deno though that is not installed yet.
run_program() {
  run_deno=$root$DENO
  [ -z "${deno_now:-}" ] || run_deno=$deno_now
  FLEET_DENO=$run_deno "$@"
}

# Asks an updater, which says so itself or reads its journal. Sets asked to what it said, and condition to idle, busy,
# quarantined, corrupt or unknown; to idle where there is neither a journal nor an updater.
ask_condition() {
  condition=idle asked=''
  [ -e "$root$STATE/updater/upgrade.json" ] || [ -S "$root/run/harmony-fleet/updater.sock" ] || return 0
  if [ ! -f "$1" ]; then
    condition=unknown asked='there is no updater to ask'
    return 0
  fi
  ask_code=0
  asked=$(run_program "$1" idle --root "$root" 2>&1) || ask_code=$?
  case $ask_code in
    0) condition=idle ;;
    3) condition=quarantined ;;
    4) condition=busy ;;
    78) condition=corrupt ;;
    *) condition=unknown ;;
  esac
}

installed_updater() { printf '%s%s' "$root" "$(readlink -- "$root$UPDATER_LINK" || :)"; }

# Ends unless the device may be set up: refused while an upgrade is under way, or where nobody can tell.
require_idle() {
  case $condition in
    busy)
      complain "refused: $asked; run this again when the upgrade is over"
      exit "$EXIT_BUSY"
      ;;
    unknown) die "cannot tell whether an upgrade is under way: $(printf '%s' "$asked" | head -n 1)" ;;
    quarantined | corrupt) say "The device is $condition: $asked" ;;
  esac
}

# ---- Install ----

install() {
  open_release
  choose_form
  if [ "$configured" = no ] && ! { [ -f "$root$CONFIG/agent.json" ] && [ -f "$root$CONFIG/updater.json" ]; }; then
    misused 'this device has no configuration yet: --device-id and --nats-server are needed'
  fi
  remove_leftovers
  # Before anything is fetched; an updater that is too old to answer is asked by the new one.
  ask_condition "$(installed_updater)"
  [ "$condition" = unknown ] || require_idle
  choose_agent
  bring_programs
  if [ "$condition" = unknown ] && [ "$dry" = no ]; then
    ask_condition "$updater_now"
    require_idle
  fi
  put_account
  put_directories
  put_programs
  put_configuration
  put_units
  [ "$live" = yes ] || put_image_files
  put_podman
  put_updater
  put_agent
  if [ "$changes" = 0 ]; then say 'Nothing to change'; else say "$changes changes"; fi
  if [ "$live" = yes ] && [ "$start" = yes ] && [ "$dry" = no ]; then wait_for_agent; fi
}

# Sets agent_path to the binary that the link will select; agent_new says whether it is this release's.
choose_agent() {
  agent_before=$(readlink -- "$root$AGENT_LINK" || :)
  agent_path=$LIBRARY/fleet-agent-v$version
  agent_new=yes
  if [ -n "$agent_before" ] && [ "$agent_before" != "$agent_path" ]; then
    if [ "$condition" != idle ]; then
      agent_new=no
    elif [ -x "$root$agent_before" ] && [ "$switch_agent" = no ]; then
      agent_new=no
      say "The agent stays at ${agent_before##*/fleet-agent-v}: releases in NATS upgrade it, or --switch-agent"
    fi
  fi
  [ "$agent_new" = yes ] || agent_path=$agent_before
  if [ "$agent_before" = "$agent_path" ] && [ "$agent_new" = yes ] && [ -f "$root$agent_path" ]; then
    # The selected binary is never changed in place.
    [ "$(digest_of "$root$agent_path")" = "$(release_digest "$programs/fleet-agent")" ] ||
      die "refused: the device runs another fleet-agent that also calls itself $version; give this one another version"
  fi
}

# Puts programs that differ under temporary names, verified, and runs them once: a program that this machine cannot run
# must not replace one that it can.
bring_programs() {
  deno_now='' updater_now=$(installed_updater) updater_path=$LIBRARY/fleet-updater-v$version
  [ "$dry" = no ] || return 0
  put_parent "$LIBRARY"
  if [ "$form" = script ]; then
    [ -z "$deno_file" ] || deno_now=$deno_file
    [ -z "$deno_path" ] || bring "$deno_path" "$DENO"
    [ -z "$deno_path" ] || deno_now=$brought
    [ -z "$deno_now" ] || check_deno
  fi
  if [ "$agent_new" = yes ]; then
    bring "$programs/fleet-agent" "$agent_path"
    try_run "fleet-agent $version" "$brought"
  fi
  bring "$programs/fleet-updater" "$updater_path"
  try_run "fleet-updater $version" "$brought"
  updater_now=$brought
}

# Sets brought to a file that holds what the release has for PATH.
bring() {
  brought=$root$2
  [ ! -f "$brought" ] || [ "$(digest_of "$brought")" != "$(release_digest "$1")" ] || return 0
  brought=$(temp_of "$2")
  check_space "$1" "$(dirname -- "$brought")"
  fetch_verified "$1" "$brought"
  chmod 755 "$brought"
}

# Room for the file, and for the reserve that every upgrade leaves.
check_space() {
  space_need=170000
  [ "${1#bin/script/}" = "$1" ] || space_need=70000
  space_free=$(df -Pk -- "$2" | awk 'NR == 2 { print $4 }')
  [ "${space_free:-0}" -ge "$space_need" ] ||
    die "cannot install: ${2#"$root"} has ${space_free:-0} KiB free, $space_need are needed"
}

check_deno() {
  [ "$arch" = "$machine" ] || return 0
  case $("$deno_now" --version 2>&1 | head -n 1) in
    'deno 2.9'* | 'deno 2.'[1-9][0-9]* | 'deno '[3-9]*) ;;
    *) die "cannot use $deno_now: the script form needs deno 2.9 or newer" ;;
  esac
}

try_run() {
  [ "$arch" = "$machine" ] || return 0
  try_said=$(run_program "$2" --version 2>&1) || die "cannot run $1 on this machine: $(printf '%s' "$try_said" | head -n 1)"
  case $try_said in
    "$1"*) ;;
    *) die "cannot use $1: --version says \"$(printf '%s' "$try_said" | head -n 1)\"" ;;
  esac
}

put_account() {
  [ "$live" = yes ] || return 0
  if ! getent group "$ACCOUNT" >/dev/null; then
    changed "make the group $ACCOUNT"
    [ "$dry" = yes ] || groupadd --system "$ACCOUNT"
  fi
  if ! getent passwd "$ACCOUNT" >/dev/null; then
    changed "make the user $ACCOUNT"
    [ "$dry" = yes ] || useradd --system --gid "$ACCOUNT" --home-dir "$STATE/home" --no-create-home \
      --shell /usr/sbin/nologin --comment 'Harmony Fleet agent' "$ACCOUNT"
  fi
}

put_directories() {
  put_directory "$LIBRARY" 755 root:root
  put_directory "$STATE" 755 root:root
  put_directory "$STATE/updater" 700 root:root
  put_directory "$STATE/agent" 700 "$ACCOUNT:$ACCOUNT"
  put_directory "$STATE/home" 700 "$ACCOUNT:$ACCOUNT"
  put_directory "$CONFIG" 750 "root:$ACCOUNT"
  put_parent "$UNITS"
  put_parent /usr/local/bin
  put_parent /usr/local/sbin
}

put_programs() {
  if [ "$form" = script ]; then
    [ -z "$deno_file" ] || put_file "$deno_file" "$DENO" 755 root:root 'updater agent'
    [ -z "$deno_path" ] || put_release "$deno_path" "$DENO" 755 'updater agent'
  fi
  [ "$agent_new" = no ] || put_release "$programs/fleet-agent" "$agent_path" 755 ''
  # The same version with other content: the old one stays for the way back.
  if [ "$dry" = no ] && [ -f "$root$updater_path" ] && ! is_release_file "$programs/fleet-updater" "$updater_path" 755; then
    ln -f -- "$root$updater_path" "$root$updater_path.previous"
  fi
  put_release "$programs/fleet-updater" "$updater_path" 755 updater
}

put_configuration() {
  [ "$configured" = yes ] || return 0
  put_secret "$password_file" nats-password
  put_secret "$token_file" nats-token
  put_secret "$creds_file" nats.creds
  [ -z "$ca_file" ] || put_file "$ca_file" "$CONFIG/ca.pem" 640 "root:$ACCOUNT" agent
  [ -z "$artifact_ca_file" ] || put_file "$artifact_ca_file" "$CONFIG/artifact-ca.pem" 640 "root:$ACCOUNT" updater
  put_document "$agent_config" agent.json agent agent_document
  put_document "$updater_config" updater.json updater updater_document
}

put_secret() {
  [ -z "$1" ] || put_file "$1" "$CONFIG/$2" 640 "root:$ACCOUNT" agent
}

# put_document FILE-OR-NOTHING NAME MARKS WRITER: the former one is kept beside the new one.
put_document() {
  put_source=$1
  if [ -z "$put_source" ]; then
    put_source=$work/$2
    "$4" >"$put_source"
  fi
  if [ "$dry" = no ] && [ -f "$root$CONFIG/$2" ] && ! cmp -s -- "$put_source" "$root$CONFIG/$2"; then
    ln -f -- "$root$CONFIG/$2" "$root$CONFIG/$2.previous"
  fi
  put_file "$put_source" "$CONFIG/$2" 640 "root:$ACCOUNT" "$3"
}

# Every value was checked to have no character that JSON would have to escape.
agent_document() {
  printf '{\n  "deviceId": "%s",\n  "nats": {\n    "servers": [' "$device_id"
  document_separator=''
  for document_server in $servers; do
    printf '%s"%s"' "$document_separator" "$document_server"
    document_separator=', '
  done
  printf ']'
  [ -z "$user" ] || printf ',\n    "user": "%s",\n    "passwordFile": "%s"' "$user" "$CONFIG/nats-password"
  [ -z "$token_file" ] || printf ',\n    "tokenFile": "%s"' "$CONFIG/nats-token"
  [ -z "$creds_file" ] || printf ',\n    "credentialsFile": "%s"' "$CONFIG/nats.creds"
  [ -z "$ca_file" ] || printf ',\n    "caFile": "%s"' "$CONFIG/ca.pem"
  printf '\n  }'
  [ -z "$podman" ] || printf ',\n  "podman": { "enabled": true }'
  printf '\n}\n'
}

updater_document() {
  printf '{\n  "deviceId": "%s",\n  "services": { "kind": "systemd" },\n' "$device_id"
  printf '  "agentUser": "%s",\n  "socketGroup": "%s"' "$ACCOUNT" "$ACCOUNT"
  [ -z "$artifact_ca_file" ] || printf ',\n  "tls": { "caFile": "%s" }' "$CONFIG/artifact-ca.pem"
  printf '\n}\n'
}

put_units() {
  put_release systemd/fleet-updater.service "$UNITS/fleet-updater.service" 644 'reload updater'
  put_release systemd/fleet-agent.service "$UNITS/fleet-agent.service" 644 'reload agent'
}

# What an image needs that a running system is told by commands: users and owners are made at its first boot.
put_image_files() {
  cat >"$work/sysusers" <<EOF
u $ACCOUNT - "Harmony Fleet agent" $STATE/home /usr/sbin/nologin
EOF
  cat >"$work/tmpfiles" <<EOF
d $STATE/agent 0700 $ACCOUNT $ACCOUNT
d $STATE/home 0700 $ACCOUNT $ACCOUNT
d $CONFIG 0750 root $ACCOUNT
z $CONFIG/* 0640 root $ACCOUNT
EOF
  put_parent /usr/lib/sysusers.d
  put_parent /usr/lib/tmpfiles.d
  put_file "$work/sysusers" /usr/lib/sysusers.d/harmony-fleet.conf 644 root:root ''
  put_file "$work/tmpfiles" /usr/lib/tmpfiles.d/harmony-fleet.conf 644 root:root ''
  put_parent "$UNITS/multi-user.target.wants"
  for image_unit in fleet-updater.service fleet-agent.service; do
    put_link "../$image_unit" "$UNITS/multi-user.target.wants/$image_unit" ''
  done
}

# Rootless Podman for the agent's user, where Podman is installed. Whatever is missing is said; it stops nothing.
put_podman() {
  [ "$live" = yes ] && has podman || return 0
  if ! has newuidmap; then
    complain 'Podman is here, newuidmap is not: install the package uidmap for rootless containers'
    return 0
  fi
  for podman_kind in uid gid; do
    ! grep -qs "^$ACCOUNT:" "$root/etc/sub$podman_kind" || continue
    podman_first=$(awk -F: 'BEGIN { next_id = 100000 } $2 + $3 > next_id { next_id = $2 + $3 } END { print next_id }' \
      "$root/etc/sub$podman_kind" 2>/dev/null || :)
    podman_first=${podman_first:-100000}
    changed "give $ACCOUNT 65536 sub-${podman_kind}s from $podman_first"
    [ "$dry" = yes ] || usermod "--add-sub${podman_kind}s" "$podman_first-$((podman_first + 65535))" "$ACCOUNT"
  done
  if [ ! -e "$root/var/lib/systemd/linger/$ACCOUNT" ]; then
    changed "let the user manager of $ACCOUNT run from boot (linger)"
    [ "$dry" = yes ] || loginctl enable-linger "$ACCOUNT" 2>/dev/null || linger_by_hand
  fi
  if [ ! -e "$root$STATE/home/.config/systemd/user/sockets.target.wants/podman.socket" ]; then
    changed "enable podman.socket of $ACCOUNT"
    [ "$dry" = yes ] || slowly 'starting podman.socket' enable_for_podman --now podman.socket ||
      complain "cannot start podman.socket of $ACCOUNT; see systemctl --user -M $ACCOUNT@ status podman.socket"
  fi
  # Containers run again after a boot without the agent, which may have to wait for NATS.
  if [ ! -e "$root$STATE/home/.config/systemd/user/default.target.wants/podman-restart.service" ]; then
    changed "start containers of $ACCOUNT with the policy always at boot (podman-restart.service)"
    [ "$dry" = yes ] || slowly 'enabling podman-restart.service' enable_for_podman podman-restart.service ||
      complain "cannot enable podman-restart.service of $ACCOUNT: its containers start at boot once the agent is READY"
  fi
}

# What logind would do: in a container it may refuse to.
linger_by_hand() {
  mkdir -p -- "$root/var/lib/systemd/linger"
  : >"$root/var/lib/systemd/linger/$ACCOUNT"
  systemctl start "user@$(id -u "$ACCOUNT").service" || complain "cannot start the user manager of $ACCOUNT"
}

# The user manager takes a moment after linger was enabled.
enable_for_podman() {
  podman_tries=0
  until systemctl --user -M "$ACCOUNT@" enable "$@" >/dev/null 2>&1; do
    podman_tries=$((podman_tries + 1))
    [ "$podman_tries" -lt 10 ] || return 1
    sleep 1
  done
}

reload() {
  ! marked reload || { systemctl daemon-reload && unmark reload; }
}

# Links that are only in memory would be gone with the power, and the device would start nothing by itself.
enable_units() {
  systemctl enable --quiet "$@"
  [ ! -d "$root$UNITS/multi-user.target.wants" ] || flush "$root$UNITS/multi-user.target.wants"
}

property_of() { systemctl show -p "$2" --value "$1" 2>/dev/null || :; }
is_active() { [ "$(property_of "$1" ActiveState)" = active ]; }
is_stopped() { case $(property_of "$1" ActiveState) in inactive | failed | '') ;; *) return 1 ;; esac; }

# The last lines of a unit, for whoever looks at a start that failed.
show_log() {
  ! has journalctl || journalctl --unit "$1" --lines 5 --output cat --no-pager 2>/dev/null | sed 's/^/  | /' >&2 || :
}

# Replaces the updater in place. It is stopped first, and asked once more: an upgrade may have begun meanwhile.
put_updater() {
  updater_before=$(readlink -- "$root$UPDATER_LINK" || :)
  if [ "$live" = no ] || [ "$start" = no ] || [ "$dry" = yes ]; then
    put_link "$updater_path" "$UPDATER_LINK" updater
    return 0
  fi
  reload
  [ "$updater_before" = "$updater_path" ] || mark updater
  if ! marked updater && is_active fleet-updater.service; then return 0; fi
  if ! is_stopped fleet-updater.service; then
    slowly 'stopping fleet-updater' systemctl stop fleet-updater.service || die 'cannot stop fleet-updater'
    ask_condition "$root$updater_path"
    case $condition in
      busy | unknown)
        systemctl start fleet-updater.service || :
        require_idle
        ;;
    esac
  fi
  put_link "$updater_path" "$UPDATER_LINK" updater
  enable_units fleet-updater.service
  systemctl reset-failed fleet-updater.service 2>/dev/null || :
  if slowly 'starting fleet-updater' systemctl start fleet-updater.service; then
    unmark updater
    say "+ fleet-updater $version runs"
    rm -f -- "$root$updater_path.previous"
    return 0
  fi
  show_log fleet-updater.service
  [ "$condition" != corrupt ] ||
    die 'fleet-updater does not start: its journal cannot be trusted; go on with: fleet-updater repair'
  take_updater_back
}

take_updater_back() {
  if [ -e "$root$updater_path.previous" ]; then
    mv -f -T -- "$root$updater_path.previous" "$root$updater_path"
  elif [ -n "$updater_before" ] && [ "$updater_before" != "$updater_path" ]; then
    put_link "$updater_before" "$UPDATER_LINK" updater
  else
    die 'fleet-updater does not start; see journalctl -u fleet-updater'
  fi
  systemctl start fleet-updater.service ||
    die 'neither the new fleet-updater starts nor the previous one; see journalctl -u fleet-updater'
  die "fleet-updater $version does not start, the previous one runs again; see journalctl -u fleet-updater"
}

put_agent() {
  if [ "$condition" != idle ]; then
    say "The agent is left alone while the device is $condition"
    start=no
    return 0
  fi
  put_link "$agent_path" "$AGENT_LINK" agent
  [ "$live" = yes ] && [ "$dry" = no ] || return 0
  enable_units fleet-updater.service fleet-agent.service
}

# ---- READY ----

property() { property_of fleet-agent.service "$1"; }

wait_for_agent() {
  if ! marked agent && is_active fleet-agent.service; then
    say "fleet-agent runs: $(property StatusText)"
    return 0
  fi
  restart_agent
  if wait_until_ready; then
    unmark agent
    say "+ fleet-agent ${agent_path##*/fleet-agent-v} is READY"
    return 0
  fi
  not_ready
}

restart_agent() {
  invocation_before=$(property InvocationID)
  systemctl reset-failed fleet-agent.service 2>/dev/null || :
  systemctl restart --no-block fleet-agent.service || die 'cannot start fleet-agent'
}

# Follows the start with every new status; ends at READY, at the first exit, or when the time is over.
wait_until_ready() {
  wait_seconds=0 wait_said=''
  while [ "$wait_seconds" -lt "$READY_SECONDS" ]; do
    wait_status=$(property StatusText)
    if [ -n "$wait_status" ] && [ "$wait_status" != "$wait_said" ]; then
      say "  fleet-agent: $wait_status"
      wait_said=$wait_status
    elif [ "$wait_seconds" -gt 0 ] && [ $((wait_seconds % 2)) = 0 ]; then
      say "  ... waiting for READY, $wait_seconds s"
    fi
    # Until the job has begun, everything is still said of the process before.
    if [ "$(property InvocationID)" != "$invocation_before" ]; then
      case $(property ActiveState)/$(property SubState) in
        active/*) return 0 ;;
        */auto-restart* | failed/*) return 1 ;;
      esac
    fi
    sleep 1
    wait_seconds=$((wait_seconds + 1))
  done
  return 1
}

not_ready() {
  not_ready_code=$(property ExecMainStatus)
  show_log fleet-agent.service
  complain "fleet-agent is not READY: ${wait_said:-no status} ($(property Result), exit code $not_ready_code)"
  if [ "$not_ready_code" = "$EXIT_ENVIRONMENT" ] || [ "$wait_seconds" -ge "$READY_SECONDS" ]; then
    complain 'everything is installed, and it goes on trying by itself; follow it with: journalctl -fu fleet-agent'
    exit "$EXIT_ENVIRONMENT"
  fi
  if [ -n "$agent_before" ] && [ "$agent_before" != "$agent_path" ] && [ -x "$root$agent_before" ]; then
    systemctl stop fleet-agent.service || :
    put_link "$agent_before" "$AGENT_LINK" agent
    restart_agent
    ! wait_until_ready || unmark agent
    die "the agent was switched back to ${agent_before##*/fleet-agent-v}; see journalctl -u fleet-agent"
  fi
  die 'see journalctl -u fleet-agent; after mending the configuration run this again'
}

# ---- Uninstall ----

uninstall() {
  make_work
  deno_now=''
  ask_condition "$(installed_updater)"
  # Without its updater a device has been half uninstalled, and nothing can be under way.
  [ -f "$(installed_updater)" ] || condition=idle
  require_idle
  if [ "$live" = yes ] && [ "$dry" = no ]; then stop_services; fi
  for uninstall_unit in fleet-agent.service fleet-updater.service; do
    remove "$UNITS/multi-user.target.wants/$uninstall_unit"
    remove "$UNITS/$uninstall_unit"
  done
  [ "$live" = no ] || [ "$dry" = yes ] || systemctl daemon-reload
  remove "$AGENT_LINK"
  remove /usr/lib/sysusers.d/harmony-fleet.conf
  remove /usr/lib/tmpfiles.d/harmony-fleet.conf
  for uninstall_mark in updater agent reload; do [ "$dry" = yes ] || unmark "$uninstall_mark"; done
  # Last: as long as there is an updater, a run that was killed before can still ask it.
  remove "$UPDATER_LINK"
  remove "$LIBRARY"
  if [ "$purge" = yes ]; then purge_data; else say "Kept: $CONFIG, $STATE and the user $ACCOUNT (--purge removes them)"; fi
  if [ "$changes" = 0 ]; then say 'Nothing to remove'; else say "$changes changes"; fi
}

stop_services() {
  if ! is_stopped fleet-updater.service; then
    slowly 'stopping fleet-updater' systemctl stop fleet-updater.service || die 'cannot stop fleet-updater'
    [ ! -f "$(installed_updater)" ] || ask_condition "$(installed_updater)"
    case $condition in
      busy | unknown)
        systemctl start fleet-updater.service || :
        require_idle
        ;;
    esac
  fi
  if ! is_stopped fleet-agent.service; then
    slowly 'stopping fleet-agent' systemctl stop fleet-agent.service || :
    is_stopped fleet-agent.service || die 'cannot stop fleet-agent; nothing was removed'
  fi
  systemctl disable --quiet fleet-agent.service fleet-updater.service 2>/dev/null || :
}

purge_data() {
  if [ "$live" = yes ] && getent passwd "$ACCOUNT" >/dev/null; then
    changed "remove the user $ACCOUNT"
    if [ "$dry" = no ]; then
      ! has loginctl || loginctl disable-linger "$ACCOUNT" 2>/dev/null || :
      rm -f -- "$root/var/lib/systemd/linger/$ACCOUNT"
      ! has loginctl || loginctl terminate-user "$ACCOUNT" 2>/dev/null || :
      purge_tries=0
      until userdel "$ACCOUNT" >/dev/null 2>"$work/userdel"; do
        purge_tries=$((purge_tries + 1))
        [ "$purge_tries" -lt 15 ] || die "cannot remove the user $ACCOUNT: $(head -n 1 "$work/userdel")"
        sleep 1
      done
      ! getent group "$ACCOUNT" >/dev/null || groupdel "$ACCOUNT"
    fi
  fi
  remove "$CONFIG"
  remove "$STATE"
  remove /run/harmony-fleet
}

main() {
  parse "$@"
  check_system
  take_lock
  "$action"
}

# The last line: a script that was cut off on its way does nothing.
main "$@"
