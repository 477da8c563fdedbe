#!/usr/bin/env bash
# Install the fonts of generated scans (templates/ocr/ocr/fonts.py).
set -euo pipefail
cd "$(dirname "$0")"
for font in fonts-dejavu-core:dejavu/DejaVuSans.ttf fonts-liberation:liberation/LiberationSans-Regular.ttf \
  fonts-freefont-ttf:freefont/FreeSerif.ttf; do
  file=/usr/share/fonts/truetype/${font#*:}
  [ -e "$file" ] || ./install-package.sh "${font%%:*}" "generated scans" "$file"
done
