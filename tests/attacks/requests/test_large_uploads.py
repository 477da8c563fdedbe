"""Tests that small uploads take little memory, give few findings and do not recurse deeply."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from sluice.servicekit.web.request_limits import MAX_REGISTRATION, Limits
from tests.attacks.requests.large_uploads import ACCEPTED_UPLOADS, REFUSED_UPLOADS
from tests.attacks.requests.raw_requests import format_head, send_bytes, serve_with_limits

#: MiB that an upload may take in addition to the libraries. Without checks, most of these uploads
#: took a gigabyte or never ended.
MAX_MEBIBYTES = 350

#: Compiles uploads as the operator service does, each in a new process that has loaded the
#: libraries. Prints the findings and the memory of each.
CHECK_PROGRAM = """
import json, os, resource, sys
from tests.attacks.requests.large_uploads import ACCEPTED_UPLOADS, REFUSED_UPLOADS, make_step_chain
from tests.unit.cwl.errors.accepted_uploads import carry_through
from sluice.cwl import compile_upload, take_files

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

def carry(kind, case):
    before = peak()
    make = REFUSED_UPLOADS[case][0] if kind == "refused" else ACCEPTED_UPLOADS[case]
    files = make()
    main = None if case == "values in all files" else "w.cwl"
    plan = carry_through(files, main)
    found = {"steps": None if plan is None else len(plan.steps), "grown": peak() - before}
    if plan is None:
        errors = compile_upload(take_files(files, main=main), name="t").compiled.errors
        found["messages"] = [error.message for error in errors]
    print(json.dumps(found), flush=True)

carry_through(make_step_chain(2), "w.cwl")  # imports the libraries
for line in sys.stdin:
    child = os.fork()
    if not child:
        carry(*json.loads(line))
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(json.dumps({"broken": line}), flush=True)
"""

UploadCheck = Callable[[str, str], dict[str, object]]


@pytest.fixture(scope="module")
def upload_checks() -> Iterator[UploadCheck]:
    with subprocess.Popen(
        [sys.executable, "-c", CHECK_PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def run_check(kind: str, case: str) -> dict[str, object]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps([kind, case]) + "\n")
            process.stdin.flush()
            result: dict[str, object] = json.loads(process.stdout.readline())
            assert "broken" not in result, "the process ended before the result"
            return result

        yield run_check


@pytest.mark.parametrize("case", REFUSED_UPLOADS)
def test_upload_that_would_grow_is_refused_with_a_reason(
    upload_checks: UploadCheck, case: str
) -> None:
    result = upload_checks("refused", case)
    assert result["steps"] is None
    messages: list[str] = result["messages"]  # type: ignore[assignment]
    assert any(REFUSED_UPLOADS[case][1] in message for message in messages), messages
    assert isinstance(result["grown"], int)
    assert result["grown"] < MAX_MEBIBYTES


@pytest.mark.parametrize("case", ACCEPTED_UPLOADS)
def test_long_valid_upload_is_accepted(upload_checks: UploadCheck, case: str) -> None:
    result = upload_checks("taken", case)
    assert isinstance(result["steps"], int)
    assert result["steps"] >= 1
    assert isinstance(result["grown"], int)
    assert result["grown"] < MAX_MEBIBYTES


async def test_large_registration_of_a_pilot_is_refused_before_it_is_complete() -> None:
    data = format_head("POST", content_length=str(MAX_REGISTRATION + 1)) + b"x"
    other = format_head("POST", content_length="1", connection="close") + b"x"
    async with serve_with_limits(Limits()) as port:
        for path in (b"/api/v1/pilots", b"/services/wms/api/v1/pilots"):
            status, problem = await send_bytes(port, data.replace(b" / ", b" %b " % path))
            assert status == 413
            assert f"at most {MAX_REGISTRATION} bytes" in problem["detail"]
            assert await send_bytes(port, other.replace(b" / ", b" %b " % path)) == (
                200,
                {"size": 1},
            )
