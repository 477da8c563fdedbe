"""Tests of the capabilities of tools in a sandbox and of the process that holds the sandbox, as the
kernel reports them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pilot.isolation.sandbox.bare_python import bare_environment
from pilot.isolation.sandbox.sandbox import SandboxOptions
from pilot.isolation.sandbox.tool_root import SOURCES
from sluice.contracts.common.states import AttemptOutcome
from tests.unit.pilot.attempts import make_python_tool, run
from tests.unit.pilot.builders import make_task, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner

_CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
_STATUS = """
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines())
"""
#: Calls ``protect_process`` and prints the state of the process afterwards.
_SHUT_OFF = f"""
import ctypes, json, os, resource, sys
sys.path.append({SOURCES!r})
from pilot.isolation.sandbox.kernel import protect_process
held = os.open("/proc", os.O_RDONLY)
os.set_inheritable(held, True)
before = ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)  # PR_GET_DUMPABLE
protect_process([(resource.RLIMIT_NOFILE, 64), (resource.RLIMIT_CORE, 0)])
{_STATUS}
print(json.dumps({{
    "before": before,
    "dumpable": ctypes.CDLL(None).prctl(3, 0, 0, 0, 0),
    "bounding": status["CapBnd"],
    "inheritable": os.get_inheritable(held),
    "limits": [resource.getrlimit(each) for each in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)],
}}))
"""


@pytest.fixture
def slot(tmp_path: Path) -> Iterator[Runner]:
    runner = Runner(tmp_path / "pilot", settings={"sandbox": get_sandbox()})
    yield runner
    runner.close()


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
def test_tools_have_no_capabilities_and_cannot_gain_any(
    slot: Runner, root: Path, *, inside: bool
) -> None:
    tells = make_python_tool(f"{_STATUS}\nimport json; print(json.dumps(status))")
    report = run(
        slot,
        make_task(root, wrap_in_workflow(tells, mode="File") if inside else tells),
        [write_input(root / "a.dat")],
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    status = json.loads(Path(report.outputs[0].url.removeprefix("file://")).read_text())
    assert {status[name] for name in _CAPABILITIES} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"  # a filter
    assert status["Groups"].split() in ([], [status["Gid"].split()[0]])


def test_holder_of_a_sandbox_drops_its_capabilities_and_is_not_dumpable() -> None:
    holder = (
        get_sandbox()
        .namespaces([], SandboxOptions())
        .start(
            [os.path.realpath(sys.executable), "-I", "-S", "-c", _SHUT_OFF],
            streams=(subprocess.DEVNULL, subprocess.PIPE, subprocess.DEVNULL),
            environment=bare_environment(),
        )
    )
    status = json.loads(holder.communicate()[0])
    assert status == {
        "before": 1,
        "dumpable": 0,
        "bounding": "0" * 16,
        "inheritable": False,
        "limits": [[64, 64], [0, 0]],
    }
