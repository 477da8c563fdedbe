#!/bin/bash
# Run the CWL project's conformance tests on a separate system: conformance.sh SUITE.
#
#   SUITE               folder with the repository cwl-v1.2, cwl-v1.1, or common-workflow-language (for v1.0)
#   JOBS                number of tests that run at the same time (default 2)
#   TESTS               numbers of the tests to run (default: all)
#   CONTAINERS=none     run without containers
#   CONTAINERS=local    run with Podman and images that this script creates (default: this machine's engines and images)
#   TEMPLATES=1         run each document as a template of the system, instead of with sluice-cwl-runner
set -euo pipefail
suite=${1:?"the folder of the suite is missing: make conformance SUITE=path/to/cwl-v1.2"}
here=$(cd "$(dirname "$0")/.." && pwd)
home=$here/var/conformance
export PATH=$here/.venv/bin:$PATH SLUICE_HOME=$home
for tests in conformance_tests.yaml v1.0/conformance_test_v1.0.yaml conformance_test_v1.0.yaml none; do
  [ -f "$suite/$tests" ] && break
done
if [ "$tests" = none ]; then
  echo "conformance: $suite has neither conformance_tests.yaml nor v1.0/conformance_test_v1.0.yaml:" \
    "give the folder of a CWL repository" >&2
  exit 2
fi
"$here/scripts/install-package.sh" nodejs "the conformance tests" nodejs node
case "${CONTAINERS:-}" in
  none) export SLUICE_PILOT_CONTAINERS='[]' ;;
  local)
    variables=$("$here/scripts/conformance-images.sh" "$suite" "$here/var/conformance-images")
    export SLUICE_PILOT_CONTAINERS='["podman"]'
    # shellcheck disable=SC2086,SC2163 # the text contains several variables
    export $variables
    ;;
esac
mkdir -p "$home"
TMPDIR=$(mktemp -d) # cwltest leaves a folder for each test
export TMPDIR
trap 'sluice down --home "$home"; rm -rf "$TMPDIR"' EXIT
sluice up --home "$home" --port 0 --detach
tool=sluice-cwl-runner
[ -z "${TEMPLATES:-}" ] || tool=$here/scripts/run_as_template.py
cd "$suite/$(dirname "$tests")"
cwltest --test "$(basename "$tests")" --tool "$tool" -j "${JOBS:-2}" --timeout 120 \
  --junit-xml "$home/results.xml" ${TESTS:+-n "$TESTS"}
