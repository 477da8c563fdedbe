#!/usr/bin/env bash
# Create a server's data folder from the backups of `backup.sh`. A server that starts on this folder recovers to the end
# of the streamed WAL. Run this script as the user of the server.
#
#   restore.sh DATA [BASE]    DATA: an empty or new folder; BASE: name of a base backup (default: the newest)
#
#   BACKUP_FOLDER             folder of the backups (default /backup); the server reads it while it recovers
set -euo pipefail

folder=$(realpath "${BACKUP_FOLDER:-/backup}")
data=${1:-}
fail() { printf 'restore.sh: %s\n' "$*" >&2; exit 1; }

[ -n "$data" ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
if [ -d "$data" ] && [ -n "$(ls -A "$data")" ]; then
  fail "$data is not empty: choose another folder, so that no data is overwritten"
fi
[ -d "$folder/base" ] || fail "there is no base backup in $folder: set BACKUP_FOLDER to the folder of the backups"
base=${2:-$(find "$folder/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.partial' -printf '%f\n' | sort | tail -n 1)}
[ -n "$base" ] || fail "there is no base backup in $folder/base"
[ -f "$folder/base/$base/backup_label" ] || fail "$folder/base/$base is no base backup: choose another one"

mkdir -p "$data"
cp -a "$folder/base/$base/." "$data"
chmod 700 "$data"
# The last segment may be incomplete. Its name then ends in .partial.
cat >>"$data/postgresql.auto.conf" <<CONFIGURATION
restore_command = 'cp "$folder/wal/%f" "%p" || cp "$folder/wal/%f.partial" "%p"'
CONFIGURATION
touch "$data/recovery.signal"
echo "restored base backup $base to $data; start the server on it"
