#!/bin/bash
# The conformance tests of CWL v1.2 (a folder with the repository common-workflow-language/cwl-v1.2) on a system of its own.
set -euo pipefail
suite=${1:?"say where the suite is: make conformance SUITE=path/to/cwl-v1.2"}
here=$(cd "$(dirname "$0")/.." && pwd)
home=$here/var/conformance
export PATH=$here/.venv/bin:$PATH SLUICE_HOME=$home
test -f "$suite/conformance_tests.yaml" || { echo "conformance: no conformance_tests.yaml in $suite" >&2; exit 2; }
"$here/scripts/install-package.sh" nodejs "the conformance tests" nodejs node
mkdir -p "$home"
trap 'sluice down --home "$home"' EXIT
sluice up --home "$home" --port 0 --detach
cd "$suite"
cwltest --test conformance_tests.yaml --tool sluice-cwl-runner -j "${JOBS:-2}" --timeout 120 --junit-xml "$home/results.xml" ${TESTS:+-n "$TESTS"}
