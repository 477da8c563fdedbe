#!/usr/bin/env bash
# Runs a command with its temporary files in memory where there is plenty, and removes them: in-memory.sh PROGRAM [ARGUMENT…]
# Databases made and dropped by the hundred are what a disk is slowest at, and no test is about what outlives the machine.
set -euo pipefail
wanted=8 # GiB
memory=/dev/shm
free=$(df --output=avail --block-size=1G "$memory" 2>/dev/null | tail -1 || echo 0)
available=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo 2>/dev/null || echo 0)
if [ ! -w "$memory" ] || [ "$((free))" -lt "$wanted" ] || [ "$((available))" -lt "$wanted" ]; then exec "$@"; fi
folder=$(mktemp -d "$memory/sluice-XXXXXX")
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder" # servers that are started here by root run as separate users
TMPDIR=$folder "$@"
