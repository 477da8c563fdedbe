#!/usr/bin/env bash
# The published schemas of PAGE XML and METS, into var/schemas: for tests of templates/ocr. The package that has them wants
# many others, which are not needed for that.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=var/schemas/ocrd-3.13.3
[ -e "$folder/ocrd_validators/page.xsd" ] && exit 0
.venv/bin/python -m pip install --quiet --no-deps --no-compile --target "$folder" ocrd==3.13.3
