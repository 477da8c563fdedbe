#!/usr/bin/env bash
# Run a command with its temporary files in memory, if enough memory is free, and then remove them:
# in-memory.sh PROGRAM [ARGUMENT…]
# The tests create and drop hundreds of databases, which is slow on a disk. No test needs files after a reboot.
set -euo pipefail
needed=8 # GiB
memory=/dev/shm
free=$(df --output=avail --block-size=1G "$memory" 2>/dev/null | tail -1 || echo 0)
available=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo 2>/dev/null || echo 0)
if [ ! -w "$memory" ] || [ "$((free))" -lt "$needed" ] || [ "$((available))" -lt "$needed" ]; then exec "$@"; fi
folder=$(mktemp -d "$memory/sluice-XXXXXX")
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder" # servers that root starts run as other users, which need access
TMPDIR=$folder "$@"
