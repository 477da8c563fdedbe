#!/usr/bin/env bash
# An extra of pyproject.toml (ocr, masstimes-train) into .venv, beside the versions of requirements.lock. By pip: it alone finds
# builds of torch where pip's own settings say they are (PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS), as those that do without CUDA.
# Done already: costs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
extra=$1
python=.venv/bin/python
if "$python" - "$extra" <<'PYTHON'
import importlib.metadata, sys, tomllib
wanted = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]]
try:
    for requirement in wanted:
        name, pinned, version = requirement.replace(">=", " ").partition("==")
        found = importlib.metadata.version(name.split()[0]).partition("+")[0]
        if pinned and found != version:
            sys.exit(1)
except importlib.metadata.PackageNotFoundError:
    sys.exit(1)
PYTHON
then exit 0; fi
constraints=$(mktemp)
trap 'rm -f "$constraints"' EXIT
sed 's/ \\$//; /^ *--hash/d' requirements.lock >"$constraints"
"$python" -m pip install --quiet --no-build-isolation --constraint "$constraints" --editable ".[$extra]"
