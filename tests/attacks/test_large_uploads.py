"""What is small when it is sent stays small: in memory, in findings, and in how deep calls go."""

import json
import subprocess
import sys

import pytest

from tests.attacks.large_uploads import REFUSED, TAKEN

#: MiB that one upload may cost beyond what the libraries take. Unchecked, most of these cost a
#: gigabyte or never ended.
MOST = 350

#: Carries an upload through as the operator service does; prints what was found, and what it took.
CARRY = """
import json, resource, sys
from tests.attacks.large_uploads import REFUSED, TAKEN, steps_in_a_row
from tests.unit.cwl.test_any_upload import carry_through
from sluice.cwl import compile_upload, take_files

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

carry_through(steps_in_a_row(2), "w.cwl")  # imports the libraries
before = peak()
kind, case = sys.argv[1:]
files = (REFUSED[case][0] if kind == "refused" else TAKEN[case])()
main = None if case == "values in all files" else "w.cwl"
plan = carry_through(files, main)
grown = peak() - before
errors = compile_upload(take_files(files, main=main), name="t").compiled.errors
messages = [error.message for error in errors]
steps = None if plan is None else len(plan.steps)
json.dump({"steps": steps, "messages": messages, "grown": grown}, sys.stdout)
"""


def carried(kind: str, case: str) -> dict[str, object]:
    ran = subprocess.run(
        [sys.executable, "-c", CARRY, kind, case],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found: dict[str, object] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("case", REFUSED)
def test_what_grows_is_refused_with_its_reason(case: str) -> None:
    found = carried("refused", case)
    assert found["steps"] is None
    assert any(REFUSED[case][1] in str(message) for message in found["messages"]), found["messages"]  # type: ignore[attr-defined]
    assert isinstance(found["grown"], int)
    assert found["grown"] < MOST


@pytest.mark.parametrize("case", TAKEN)
def test_what_is_long_and_right_is_taken(case: str) -> None:
    found = carried("taken", case)
    assert isinstance(found["steps"], int)
    assert found["steps"] >= 1
    assert isinstance(found["grown"], int)
    assert found["grown"] < MOST
