#!/usr/bin/env bash
# Copy assets (models, configurations) of a storage on a file system into the backup, and back. Stored assets never
# change, so the script copies only missing files. Deleted assets stay in the backup; delete them there to free space.
#
#   assets.sh copy STORAGE       copy from the folder of the input storage into the backup
#   assets.sh keep STORAGE       repeat this copy until SIGTERM
#   assets.sh restore STORAGE    copy files that are missing in the folder of the input storage from the backup
#
#   BACKUP_FOLDER                folder of the backup; assets are in its folder assets/ (default /backup)
#   BACKUP_ASSETS_PERIOD         seconds between two copies of keep (default 600)
set -euo pipefail

folder=${BACKUP_FOLDER:-/backup}/assets
storage=${2:-}

# copy_missing FROM TO: copy the files of all assets. A file gets its final name when it is complete.
copy_missing() {
  local from=$1 to=$2 file copied=0
  while IFS= read -r -d '' file; do
    [ -e "$to/$file" ] && continue
    # A link in the storage could lead the copy into any folder, or onto any file.
    if [ -L "$to/${file%/*}" ]; then
      echo "$to/${file%/*} is a link: remove it, and run the copy again" >&2
      return 1
    fi
    mkdir -p "$to/${file%/*}"
    if ! cp --remove-destination -- "$from/$file" "$to/$file.copying"; then
      rm -f "$to/$file.copying"
      # The file may have been deleted during the copy. That is no error.
      [ -e "$from/$file" ] && return 1
      continue
    fi
    mv -- "$to/$file.copying" "$to/$file"
    copied=$((copied + 1))
  done < <(cd "$from" &&
    find . -mindepth 2 -maxdepth 2 -path './asset.*/*' -type f ! -name '.part-*' ! -name '*.copying' -print0)
  echo "$copied files of assets copied"
}

log() { printf '%s %s\n' "$(date -u +%FT%TZ)" "$*"; }

# A copy may fail, for example because the disk is full. The script logs this and retries.
keep() {
  local output pause
  trap 'exit 0' TERM INT
  while true; do
    if [ ! -d "$storage" ]; then
      log "waiting for $storage: it is not a folder yet"
    elif ! output=$(mkdir -p "$folder" && copy_missing "$storage" "$folder" 2>&1); then
      log "not all assets could be copied: $output"
    elif [ "$output" != "0 files of assets copied" ]; then
      log "$output"
    fi
    sleep "${BACKUP_ASSETS_PERIOD:-600}" & pause=$!
    wait "$pause"
  done
}

case ${1:-} in
  copy) [ -d "$storage" ] && mkdir -p "$folder" && copy_missing "$storage" "$folder" ;;
  keep) keep ;;
  restore) [ -d "$folder" ] && mkdir -p "$storage" && copy_missing "$folder" "$storage" ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
