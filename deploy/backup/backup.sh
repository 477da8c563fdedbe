#!/usr/bin/env bash
# Back up the database server: take periodic base backups, and stream the WAL between them as it is committed.
# `restore.sh` restores the server from these backups, up to its last commit.
#
#   backup.sh keep    back up until SIGTERM; if the stream breaks, end with an error, so that the container restarts
#   backup.sh base    take one base backup now
#
#   BACKUP_FOLDER     folder of the backups; it contains base/<time> and wal/ (default /backup)
#   BACKUP_URL_FILE   file with postgresql://login:password@host:port/postgres of a login with REPLICATION
#   BACKUP_PERIOD     seconds between base backups (default 86400, one day)
#   BACKUP_WAIT       seconds to wait for access to the folder, the server and the login at the start (default 300)
#   BACKUP_KEEP       number of base backups to keep, with all WAL since the oldest of them (default 7)
set -euo pipefail

folder=${BACKUP_FOLDER:-/backup}
url=$(cat "${BACKUP_URL_FILE:-/run/secrets/sluice_backup_url}")
period=${BACKUP_PERIOD:-86400}
keep=${BACKUP_KEEP:-7}
slot=sluice_backup
umask 077

log() { printf '%s %s\n' "$(date -u +%FT%TZ)" "$*"; }

bases() { find "$folder/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.partial' | sort; }

# pg_verifybackup does not work in every build of PostgreSQL.
verify() {
  if pg_verifybackup --version >/dev/null 2>&1; then
    pg_verifybackup --quiet "$1"
  else
    log "the base backup is not verified: pg_verifybackup does not run here"
  fi
}

# A base backup gets its final name when it is complete and verified.
take_base() {
  local name
  name=$(date -u +%Y%m%dT%H%M%SZ)
  rm -rf "$folder"/base/*.partial
  pg_basebackup --dbname="$url" --pgdata="$folder/base/$name.partial" --label="$name" \
    --wal-method=stream --checkpoint=fast
  verify "$folder/base/$name.partial"
  mv "$folder/base/$name.partial" "$folder/base/$name"
  log "base backup $name: $(du -sh "$folder/base/$name" | cut -f1)"
  delete_old_bases
}

delete_old_bases() {
  local old oldest first
  for old in $(bases | head -n "-$keep"); do
    rm -rf "$old"
    log "deleted ${old##*/}"
  done
  oldest=$(bases | head -n 1)
  first=$(sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p' "$oldest/backup_label")
  pg_archivecleanup "$folder/wal" "$first"
}

# wait_for WHAT COMMAND…: repeat the command until it succeeds, and log each new error.
wait_for() {
  local what=$1 error logged_error="" tries=$((${BACKUP_WAIT:-300}))
  shift
  until error=$("$@" 2>&1); do
    [ "$error" = "$logged_error" ] || log "waiting for $what: $error"
    logged_error=$error
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

keep_backups() {
  local stream wait
  # At first, the new volume may still belong to root, the server may be starting, and the login may not exist.
  wait_for "access to $folder" make_folders
  wait_for "the server" make_slot
  stream_wal &
  stream=$!
  trap 'kill "$stream" 2>/dev/null || true; wait "$stream" || true; exit 0' TERM INT
  while kill -0 "$stream" 2>/dev/null; do
    wait=$((period - $(seconds_since_newest)))
    if ((wait <= 0)); then
      take_base
    else
      # This wait ends early if the stream ends.
      timeout "$wait" tail --pid="$stream" -f /dev/null & wait $! || true
    fi
  done
  log "the stream of WAL has ended"
  return 1
}

case ${1:-} in
  keep) keep_backups ;;
  base) make_folders; take_base ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
