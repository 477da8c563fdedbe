#!/usr/bin/env bash
# Install Sluice, the tools for its development and packs into .venv, with the versions and hashes of requirements.lock.
#
#   install.sh PYTHON [PACK…]   PACK is a folder of templates/. The pack spd is always installed.
#   install.sh --check          Only check the environment. The exit status is 0 if it is complete, 1 if it is old, and 2 if it has
#                               to be made again.
#
# Sluice and the packs are installed in place. A complete environment is kept. An environment that was interrupted, or made in
# another folder, is removed and made again.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$(pwd -P)
python=${1-python3}
packs=(spd "${@:2}")

state() {
  # The file `incomplete` exists during an installation, and the file `installed` after it.
  if [ ! -x .venv/bin/python ] || [ -e .venv/incomplete ]; then return 2; fi
  if ! compgen -G '.venv/lib/python3*/site-packages/pip' >/dev/null; then return 2; fi
  if [ ! -e .venv/installed ]; then return 1; fi
  # Programs contain the absolute path of their interpreter, which is wrong after a move of the folder.
  if ! head -n 3 .venv/bin/sluice 2>/dev/null | grep -qF "$here/.venv/bin/python"; then return 2; fi
  if [ pyproject.toml -nt .venv/installed ] || [ requirements.lock -nt .venv/installed ]; then return 1; fi
  local pack
  for pack in "${packs[@]}"; do
    if [ "templates/$pack/pyproject.toml" -nt ".venv/packs/$pack" ] || [ requirements.lock -nt ".venv/packs/$pack" ]; then return 1; fi
  done
}

status=0
state || status=$?
if [ "$python" = --check ]; then exit "$status"; fi
if [ "$status" -eq 0 ]; then exit 0; fi
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
.venv/bin/uv pip install --quiet --compile-bytecode --constraint requirements.lock --requirements pyproject.toml --extra dev
.venv/bin/uv pip install --quiet --no-deps --build-constraints requirements.lock --editable .
.venv/bin/uv pip install --quiet --compile-bytecode --no-sources --constraint requirements.lock \
  --build-constraints requirements.lock \
  "${packs[@]/#/--editable=templates/}"
.venv/bin/python -S -X utf8 scripts/relative_paths.py .venv/lib/python3*/site-packages/_sluice*.pth
.venv/bin/python -m compileall -q sluice wfms dms wms pilot "${packs[@]/#/templates/}"
mkdir -p .venv/packs
(cd .venv/packs && touch "${packs[@]}")
touch .venv/installed
rm .venv/incomplete
