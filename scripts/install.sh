#!/usr/bin/env bash
# Install everything into .venv, with the versions and hashes of requirements.lock, and `sluice` in place. Compile all
# modules. The script skips a complete environment. It removes and recreates an environment that is incomplete, or that
# was created in another folder.
#
#   install.sh [PYTHON]    install with this interpreter (default: python3)
#   install.sh --check     only return whether .venv is complete (0), outdated (1) or has to be recreated (2)
set -euo pipefail
cd "$(dirname "$0")/.."
here=$(pwd -P)

state() {
  # The file `incomplete` exists during an installation, and the file `installed` after it.
  if [ ! -x .venv/bin/python ] || [ -e .venv/incomplete ]; then return 2; fi
  if ! compgen -G '.venv/lib/python3*/site-packages/pip' >/dev/null; then return 2; fi
  if [ ! -e .venv/installed ]; then return 1; fi
  # Programs contain the absolute path of their interpreter, which is wrong after a move of the folder.
  if ! head -n 3 .venv/bin/sluice 2>/dev/null | grep -qF "$here/.venv/bin/python"; then return 2; fi
  if [ pyproject.toml -nt .venv/installed ] || [ requirements.lock -nt .venv/installed ]; then return 1; fi
}

status=0
state || status=$?
if [ "${1-}" = --check ]; then exit "$status"; fi
if [ "$status" -eq 0 ]; then exit 0; fi
python=${1:-python3}
"$python" -c '
import sys
if sys.version_info < (3, 11):
    sys.exit("Sluice needs Python 3.11 or newer, but " + sys.executable + " is " + sys.version)
'
exec 9>.venv.lock
if ! flock -n 9; then
  echo "waiting for another \`make\`, which installs in $here" >&2
  flock 9
fi
# Another installation may have ended after the first check.
status=0
state || status=$?
if [ "$status" -eq 0 ]; then exit 0; fi
if [ "$status" -eq 2 ]; then
  if [ -e .venv ]; then echo "recreating $here/.venv, which is incomplete or from another folder" >&2; fi
  # Rename the folder first, so that an interrupted removal leaves no environment that looks complete.
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
# Python reads this list of folders in the locale's encoding, which is ASCII with LC_ALL=C. The path of the clone may
# contain other letters, so the paths are made relative.
.venv/bin/python -S -X utf8 -c '
import os, sys
with open(sys.argv[1], "r+", encoding="utf-8") as file:
    folders = [os.path.relpath(os.path.realpath(line.rstrip("\n"))) for line in file]
    file.seek(0)
    file.truncate()
    file.writelines(f"../../../../{folder}\n" for folder in folders)
' .venv/lib/python3*/site-packages/_sluice.pth
.venv/bin/python -m compileall -q sluice wfms dms wms pilot \
  templates/collage templates/masstimes templates/ocr templates/shared templates/spd
touch .venv/installed
rm .venv/incomplete
