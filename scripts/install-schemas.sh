#!/usr/bin/env bash
# Install the published schemas of PAGE XML and METS into var/schemas, for the tests of templates/ocr. The tests do not
# need the dependencies of their package.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=var/schemas/ocrd-3.13.3
[ -e "$folder/ocrd_validators/page.xsd" ] && exit 0
.venv/bin/python -m pip install --quiet --no-deps --no-compile --target "$folder" ocrd==3.13.3
