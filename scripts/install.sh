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
  # An environment that is being made has `incomplete`; one that was made has `installed`.
  if [ ! -x .venv/bin/python ] || [ -e .venv/incomplete ] || ! compgen -G '.venv/lib/python3*/site-packages/pip' >/dev/null; then return 2; fi
  if [ ! -e .venv/installed ]; then return 1; fi
  # Programs name their interpreter by its whole path: after a move they start the one of another folder, or none.
  if ! head -n 3 .venv/bin/sluice 2>/dev/null | grep -qF "$here/.venv/bin/python"; then return 2; fi
  if [ pyproject.toml -nt .venv/installed ] || [ requirements.lock -nt .venv/installed ]; then return 1; fi
  local pack
  for pack in "${packs[@]}"; do
    if [ "templates/$pack/pyproject.toml" -nt ".venv/packs/$pack" ] || [ requirements.lock -nt ".venv/packs/$pack" ]; then return 1; fi
  done
}

found=0
state || found=$?
if [ "$python" = --check ]; then exit "$found"; fi
if [ "$found" -eq 0 ]; then exit 0; fi
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
.venv/bin/uv pip install --quiet --compile-bytecode --constraint requirements.lock --requirements pyproject.toml --extra dev
.venv/bin/uv pip install --quiet --no-deps --editable .
.venv/bin/uv pip install --quiet --compile-bytecode --no-sources --constraint requirements.lock \
  "${packs[@]/#/--editable=templates/}"
# Python reads these lists of folders in the encoding of the locale, which is ASCII with LC_ALL=C. A relative path has no letters of
# the clone's path.
.venv/bin/python -S -X utf8 -c '
import os, sys
for name in sys.argv[1:]:
    with open(name, "r+", encoding="utf-8") as file:
        folders = [os.path.relpath(os.path.realpath(line.rstrip("\n"))) for line in file]
        file.seek(0)
        file.truncate()
        file.writelines(f"../../../../{folder}\n" for folder in folders)
' .venv/lib/python3*/site-packages/_sluice*.pth
.venv/bin/python -m compileall -q sluice wfms dms wms pilot "${packs[@]/#/templates/}"
mkdir -p .venv/packs
(cd .venv/packs && touch "${packs[@]}")
touch .venv/installed
rm .venv/incomplete
