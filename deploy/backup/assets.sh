#!/usr/bin/env bash
# Copies assets (models, configurations) of a storage on a file system into the backup, and back. They never change once they are
# there: only what is missing is copied. What was taken back since stays in the backup; remove it there where it is too much.
#
#   assets.sh copy STORAGE       from the folder of the input storage into the backup
#   assets.sh keep STORAGE       the same again and again, until SIGTERM
#   assets.sh restore STORAGE    from the backup into the folder of the input storage, what is missing there
#
#   BACKUP_FOLDER                where the backup is: assets/ in it (default /backup)
#   BACKUP_ASSETS_PERIOD         seconds between two looks of keep (default 600)
set -euo pipefail

folder=${BACKUP_FOLDER:-/backup}/assets
storage=${2:-}

# copy_missing FROM TO: files of all folders of assets; each has its name when it is whole.
copy_missing() {
  local from=$1 to=$2 file copied=0
  while IFS= read -r -d '' file; do
    [ -e "$to/$file" ] && continue
    # A link in the storage could lead the copy into any folder, or onto any file.
    if [ -L "$to/${file%/*}" ]; then
      echo "$to/${file%/*} is a link: remove it, and copy again" >&2
      return 1
    fi
    mkdir -p "$to/${file%/*}"
    if ! cp --remove-destination -- "$from/$file" "$to/$file.copying"; then
      rm -f "$to/$file.copying"
      # A file that was deleted at this moment is left out.
      [ -e "$from/$file" ] && return 1
      continue
    fi
    mv -- "$to/$file.copying" "$to/$file"
    copied=$((copied + 1))
  done < <(cd "$from" && find . -mindepth 2 -maxdepth 2 -path './asset.*/*' -type f ! -name '.part-*' ! -name '*.copying' -print0)
  echo "$copied files of assets copied"
}

say() { printf '%s %s\n' "$(date -u +%FT%TZ)" "$*"; }

# What cannot be copied now (a storage that is not there yet, a full disk) is said, and tried again.
keep() {
  local said pause
  trap 'exit 0' TERM INT
  while true; do
    if [ ! -d "$storage" ]; then
      say "waits for $storage, which is not a folder yet"
    elif ! said=$(mkdir -p "$folder" && copy_missing "$storage" "$folder" 2>&1); then
      say "not all assets could be copied: $said"
    elif [ "$said" != "0 files of assets copied" ]; then
      say "$said"
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
