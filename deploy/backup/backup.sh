#!/usr/bin/env bash
# Keeps copies of the database server, from which `restore.sh` brings it back as it was at its last moment: a base backup every
# so often, and what is written between them (WAL), streamed as it is committed.
#
#   backup.sh keep    runs until SIGTERM; ends with an error when the stream breaks, to be started again
#   backup.sh base    one base backup now
#
#   BACKUP_FOLDER     where: base/<time> and wal/ (default /backup)
#   BACKUP_URL_FILE   file with postgresql://login:password@host:port/postgres of a login with REPLICATION
#   BACKUP_PERIOD     seconds between base backups (default one day)
#   BACKUP_WAIT       seconds to wait at the start for the folder to be open to it, and for the server and the login (default 300)
#   BACKUP_KEEP       base backups that are kept, with all WAL since the oldest of them (default 7)
set -euo pipefail

folder=${BACKUP_FOLDER:-/backup}
url=$(cat "${BACKUP_URL_FILE:-/run/secrets/sluice_backup_url}")
period=${BACKUP_PERIOD:-86400}
keep=${BACKUP_KEEP:-7}
slot=sluice_backup
umask 077

say() { printf '%s %s\n' "$(date -u +%FT%TZ)" "$*"; }

bases() { find "$folder/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.partial' | sort; }

# Not every build of PostgreSQL has one that works.
verify() {
  if pg_verifybackup --version >/dev/null 2>&1; then
    pg_verifybackup --quiet "$1"
  else
    say "not verified: pg_verifybackup does not run here"
  fi
}

# A base backup is complete, and proved so, before it has its name.
take_base() {
  local name
  name=$(date -u +%Y%m%dT%H%M%SZ)
  rm -rf "$folder"/base/*.partial
  pg_basebackup --dbname="$url" --pgdata="$folder/base/$name.partial" --wal-method=stream --checkpoint=fast --label="$name"
  verify "$folder/base/$name.partial"
  mv "$folder/base/$name.partial" "$folder/base/$name"
  say "base backup $name: $(du -sh "$folder/base/$name" | cut -f1)"
  forget_old
}

forget_old() {
  local old oldest first
  for old in $(bases | head -n "-$keep"); do
    rm -rf "$old"
    say "removed ${old##*/}"
  done
  oldest=$(bases | head -n 1)
  first=$(sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p' "$oldest/backup_label")
  pg_archivecleanup "$folder/wal" "$first"
}

# wait_for WHAT COMMAND…: until the command succeeds; says why it did not, when that is something new.
wait_for() {
  local what=$1 answer said="" tries=$((${BACKUP_WAIT:-300}))
  shift
  until answer=$("$@" 2>&1); do
    [ "$answer" = "$said" ] || say "waits for $what: $answer"
    said=$answer
    ((tries-- > 0)) || return 1
    sleep 1
  done
}

make_folders() { mkdir -p "$folder/base" "$folder/wal"; }

make_slot() { pg_receivewal --dbname="$url" --slot="$slot" --create-slot --if-not-exists --no-password; }

stream_wal() {
  exec pg_receivewal --dbname="$url" --slot="$slot" --directory="$folder/wal" --synchronous --no-loop --no-password
}

seconds_since_newest() {
  local newest
  newest=$(bases | tail -n 1)
  if [ -n "$newest" ]; then echo $(($(date +%s) - $(stat -c %Y "$newest/backup_label"))); else echo "$period"; fi
}

go_on() {
  local stream wait
  # A new volume is root's until it is opened, the server may still start, and the login be made after that.
  wait_for "its folder" make_folders
  wait_for "the server" make_slot
  stream_wal &
  stream=$!
  trap 'kill "$stream" 2>/dev/null || true; wait "$stream" || true; exit 0' TERM INT
  while kill -0 "$stream" 2>/dev/null; do
    wait=$((period - $(seconds_since_newest)))
    if ((wait <= 0)); then
      take_base
    else
      # Ends early when the stream does.
      timeout "$wait" tail --pid="$stream" -f /dev/null & wait $! || true
    fi
  done
  say "the stream of WAL has ended"
  return 1
}

case ${1:-} in
  keep) go_on ;;
  base) make_folders; take_base ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
