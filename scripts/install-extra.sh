#!/usr/bin/env bash
# Install an extra of a pack into .venv: install-extra.sh PACK EXTRA.
#
# The extras need torch. Only pip finds builds of torch without CUDA where the settings of pip say (PIP_EXTRA_INDEX_URL,
# PIP_FIND_LINKS). So this script uses pip, and requirements.lock only constrains the other packages. A complete extra is kept. An
# extra that was interrupted is installed again.
set -euo pipefail
cd "$(dirname "$0")/.."
pack=$1
extra=$2
python=.venv/bin/python
incomplete=.venv/incomplete-$pack-$extra
mapfile -t requirements < <("$python" -c '
import sys, tomllib
print(*tomllib.load(open(sys.argv[1], "rb"))["project"]["optional-dependencies"][sys.argv[2]], sep="\n")
' "templates/$pack/pyproject.toml" "$extra")

is_complete() {
  [ ! -e "$incomplete" ] && "$python" - "${requirements[@]}" <<'PYTHON'
import importlib.metadata, sys
try:
    for requirement in sys.argv[1:]:
        name, pinned, version = requirement.replace(">=", " ").partition("==")
        found = importlib.metadata.version(name.split()[0]).partition("+")[0]
        if pinned and found != version:
            sys.exit(1)
except importlib.metadata.PackageNotFoundError:
    sys.exit(1)
PYTHON
}

if is_complete; then exit 0; fi
exec 9>.venv.lock
flock 9
if is_complete; then exit 0; fi
# pip neither notices nor removes a package whose installation was interrupted.
reinstall=()
if [ -e "$incomplete" ]; then reinstall=(--ignore-installed); fi
touch "$incomplete"
constraints=$(mktemp)
trap 'rm -f "$constraints"' EXIT
sed 's/ \\$//; /^ *--hash/d' requirements.lock >"$constraints"
source scripts/system-certificates.sh
"$python" -m pip install --quiet --no-build-isolation --constraint "$constraints" "${reinstall[@]}" "${requirements[@]}"
rm "$incomplete"
