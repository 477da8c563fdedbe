#!/usr/bin/env bash
# Install an extra of pyproject.toml (ocr, masstimes-train) into .venv, with the versions of requirements.lock.
# The script uses pip, because only pip reads the settings (PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS) that name other builds
# of torch, such as builds without CUDA. It skips complete extras, and repeats interrupted installations.
set -euo pipefail
cd "$(dirname "$0")/.."
extra=$1
python=.venv/bin/python
incomplete=.venv/incomplete-$extra
mapfile -t requirements < <("$python" -c '
import sys, tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]], sep="\n")
' "$extra")

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
