#!/usr/bin/env bash
# Keeps the packages of the release at HEAD for the upgrade tests of the next one.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
rm -f tests/releases/*.tar.xz
git archive --format=tar HEAD sluice wfms dms wms pilot | xz -9e > "tests/releases/$version.tar.xz"
echo "tests/releases/$version.tar.xz"
