# What both installers need: a folder for unfinished work, progress, and publishing by rename; read by ../../dev.
# shellcheck shell=bash

TEMP=''
PROGRESS=''

# Only what the installers write below .tools/tmp is ever removed; the lock is held when this runs.
cleanup() {
  [[ -z $PROGRESS ]] || kill "$PROGRESS" 2>/dev/null || true
  if [[ -n $TEMP && -d $TEMP ]]; then
    chmod -R u+w -- "$TEMP" 2>/dev/null || true
    rm -rf -- "$TEMP"
  fi
}

new_temp() {
  mkdir -p "$TOOLS/tmp"
  TEMP=$(mktemp -d "$TOOLS/tmp/install.XXXXXX")
}

# Says every few seconds how much has arrived; ends with the installer, even with one that was killed, and does not
# keep the lock.
start_progress() {
  local installer=$BASHPID
  while sleep 5 >/dev/null 2>&1 && kill -0 "$installer" 2>/dev/null; do
    say "... $(du -sh "$TEMP" 2>/dev/null | cut -f 1) on disk so far"
  done 9>&- &
  PROGRESS=$!
}

# Puts FILE at .tools/bin/NAME by a rename within one file system, so that no other run ever sees half of it.
publish() {
  local file=$1 name=$2
  chmod 0755 "$file"
  mkdir -p "$BIN"
  mv -f -T -- "$file" "$BIN/$name"
}

# Points .tools/bin/NAME at an executable of the machine, replacing the link in one step.
publish_link() {
  local target=$1 name=$2
  ln -s -- "$target" "$TEMP/link-$name"
  mkdir -p "$BIN"
  mv -f -T -- "$TEMP/link-$name" "$BIN/$name"
}

need_network() {
  [[ ${DEV_NO_NETWORK:-} != 1 ]] || die "cannot install $1: DEV_NO_NETWORK=1 is set"
}

download() {
  local url=$1 out=$2
  if has curl; then
    curl -fsSL --retry 2 --connect-timeout 15 --speed-limit 1000 --speed-time 60 -o "$out" "$url"
  elif has wget; then
    wget -q --tries=3 --timeout=15 -O "$out" "$url"
  else
    return 1
  fi
}
