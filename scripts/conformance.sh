#!/bin/bash
# The CWL project's conformance tests on a separate system: conformance.sh SUITE. SUITE: a folder with the repository cwl-v1.2
# or cwl-v1.1, or with common-workflow-language, which has those of v1.0. JOBS: tests at a time, TESTS: numbers of some.
# CONTAINERS=none: without; CONTAINERS=local: with Podman, and images made here; else with the engines and images of this machine.
# TEMPLATES=1: each document runs as a template of the system instead of by sluice-cwl-runner.
set -euo pipefail
suite=${1:?"say where the suite is: make conformance SUITE=path/to/cwl-v1.2"}
here=$(cd "$(dirname "$0")/.." && pwd)
home=$here/var/conformance
export PATH=$here/.venv/bin:$PATH SLUICE_HOME=$home
for tests in conformance_tests.yaml v1.0/conformance_test_v1.0.yaml conformance_test_v1.0.yaml none; do
  [ -f "$suite/$tests" ] && break
done
[ "$tests" != none ] || { echo "conformance: no conformance_tests.yaml in $suite, nor v1.0/conformance_test_v1.0.yaml" >&2; exit 2; }
"$here/scripts/install-package.sh" nodejs "the conformance tests" nodejs node
case "${CONTAINERS:-}" in
  none) export SLUICE_PILOT_CONTAINERS='[]' ;;
  local)
    found=$("$here/scripts/conformance-images.sh" "$suite" "$here/var/conformance-images")
    export SLUICE_PILOT_CONTAINERS='["podman"]'
    # shellcheck disable=SC2086 # several variables
    export $found
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
