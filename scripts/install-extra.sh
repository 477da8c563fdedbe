#!/usr/bin/env bash
# Installs an extra of pyproject.toml (ocr, masstimes-train) into .venv, beside the versions of requirements.lock. Uses pip: it alone
# finds builds of torch where pip's own settings say they are (PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS), as those that do without CUDA.
# An extra that is complete costs nothing; one that was interrupted is installed again.
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
# Of a package that was installed in part, pip neither knows that it is incomplete nor how to remove it.
again=()
if [ -e "$incomplete" ]; then again=(--ignore-installed); fi
touch "$incomplete"
constraints=$(mktemp)
trap 'rm -f "$constraints"' EXIT
sed 's/ \\$//; /^ *--hash/d' requirements.lock >"$constraints"
source scripts/system-certificates.sh
"$python" -m pip install --quiet --no-build-isolation --constraint "$constraints" "${again[@]}" "${requirements[@]}"
rm "$incomplete"
