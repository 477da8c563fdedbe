#!/usr/bin/env bash
# Makes a server's data folder from what `backup.sh` kept; the server that is started on it recovers to the last moment that the
# stream of WAL has. Run it as the user that the server runs as.
#
#   restore.sh DATA [BASE]    DATA: a folder that is empty or not there; BASE: name of a base backup (default: the newest)
#
#   BACKUP_FOLDER             where backup.sh put it (default /backup); the server reads it while it recovers
set -euo pipefail

folder=$(realpath "${BACKUP_FOLDER:-/backup}")
data=${1:-}
fail() { printf 'restore.sh: %s\n' "$*" >&2; exit 1; }

[ -n "$data" ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
if [ -d "$data" ] && [ -n "$(ls -A "$data")" ]; then
  fail "$data is not empty: nothing is restored over data that may still be needed"
fi
[ -d "$folder/base" ] || fail "there is no base backup in $folder"
base=${2:-$(find "$folder/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.partial' -printf '%f\n' | sort | tail -n 1)}
[ -n "$base" ] || fail "there is no base backup in $folder/base"
[ -f "$folder/base/$base/backup_label" ] || fail "there is no base backup $folder/base/$base"

mkdir -p "$data"
cp -a "$folder/base/$base/." "$data"
chmod 700 "$data"
# The segment that was being written when the stream ended is there under another name.
cat >>"$data/postgresql.auto.conf" <<CONFIGURATION
restore_command = 'cp "$folder/wal/%f" "%p" || cp "$folder/wal/%f.partial" "%p"'
CONFIGURATION
touch "$data/recovery.signal"
echo "restored base backup $base to $data; start the server on it"
