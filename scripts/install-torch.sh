#!/usr/bin/env bash
# The extra `masstimes-train` (torch) into .venv, beside the versions of requirements.lock. By pip: it alone finds builds of
# torch where pip's own settings say they are (PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS), as those that do without CUDA. Done
# already: costs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
if "$python" - <<'PYTHON'
import importlib.metadata, sys, tomllib
wanted = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["masstimes-train"]
try:
    for requirement in wanted:
        name, _, version = requirement.partition("==")
        if importlib.metadata.version(name).partition("+")[0] != version:
            sys.exit(1)
except importlib.metadata.PackageNotFoundError:
    sys.exit(1)
PYTHON
then exit 0; fi
constraints=$(mktemp)
trap 'rm -f "$constraints"' EXIT
sed 's/ \\$//; /^ *--hash/d' requirements.lock >"$constraints"
"$python" -m pip install --quiet --no-build-isolation --constraint "$constraints" --editable '.[masstimes-train]'
