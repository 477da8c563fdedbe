#!/usr/bin/env bash
# Installs everything into .venv, with the versions and hashes of requirements.lock, and `sluice` itself in place. Compiles all of it
# once. A complete environment costs nothing. An environment that was interrupted, or made in another folder, is removed and made again.
# install.sh [PYTHON]; install.sh --check: only says whether it is whole (0), old (1) or has to be made again (2).
set -euo pipefail
cd "$(dirname "$0")/.."
here=$(pwd -P)

state() {
  # An environment that is being made has `incomplete`; one that was made has `installed`.
  if [ ! -x .venv/bin/python ] || [ -e .venv/incomplete ] || ! compgen -G '.venv/lib/python3*/site-packages/pip' >/dev/null; then return 2; fi
  if [ ! -e .venv/installed ]; then return 1; fi
  # Programs name their interpreter by its whole path: after a move they start the one of another folder, or none.
  if ! head -n 3 .venv/bin/sluice 2>/dev/null | grep -qF "$here/.venv/bin/python"; then return 2; fi
  if [ pyproject.toml -nt .venv/installed ] || [ requirements.lock -nt .venv/installed ]; then return 1; fi
}

found=0
state || found=$?
if [ "${1-}" = --check ]; then exit "$found"; fi
if [ "$found" -eq 0 ]; then exit 0; fi
python=${1:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Sluice needs Python 3.11 or newer; this is " + sys.version)'
exec 9>.venv.lock
if ! flock -n 9; then
  echo "another \`make\` installs in $here: waiting for it" >&2
  flock 9
fi
# Another installation may have ended since the first look, whether this one had to wait or not.
found=0
state || found=$?
if [ "$found" -eq 0 ]; then exit 0; fi
if [ "$found" -eq 2 ]; then
  if [ -e .venv ]; then echo "$here/.venv is incomplete or was made in another folder: it is made again" >&2; fi
  # Under another name first: a removal that is interrupted leaves no environment that looks complete.
  rm -rf .venv.removed
  if [ -e .venv ]; then mv .venv .venv.removed; fi
  rm -rf .venv.removed
fi
mkdir -p .venv
touch .venv/incomplete
export VIRTUAL_ENV=.venv
[ -x .venv/bin/python ] || "$python" -m venv .venv
source scripts/system-certificates.sh
[ -x .venv/bin/uv ] || .venv/bin/python -m pip install --quiet uv
.venv/bin/uv pip install --quiet --compile-bytecode --require-hashes -r requirements.lock
.venv/bin/uv pip install --quiet --no-deps -e .
# Python reads this list of folders in the locale's encoding, ASCII with LC_ALL=C: relative paths hold no letters of the clone's path.
.venv/bin/python -S -X utf8 -c '
import os, sys
with open(sys.argv[1], "r+", encoding="utf-8") as file:
    folders = [os.path.relpath(os.path.realpath(line.rstrip("\n"))) for line in file]
    file.seek(0)
    file.truncate()
    file.writelines(f"../../../../{folder}\n" for folder in folders)
' .venv/lib/python3*/site-packages/_sluice.pth
.venv/bin/python -m compileall -q sluice wfms dms wms pilot templates/collage templates/masstimes templates/ocr templates/shared templates/spd
touch .venv/installed
rm .venv/incomplete
