"""Run attempts at jobs in a real slot process, and read their results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.job_inputs import JobInput
from sluice.contracts.pilots.leases import PilotTask
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.pilot.builders import TOOL_PYTHON, make_job, make_tool
from tests.unit.pilot.slot_runner import Runner

_next = iter(range(100, 10_000))


def make_python_tool(code: str, **fields: Any) -> dict[str, Any]:
    """Return a tool that runs Python code. ``sys.argv[1]`` is the path of the input."""
    return make_tool(
        [TOOL_PYTHON, "-c"], arguments=[code.replace("$(", "\\$("), "$(inputs.f.path)"], **fields
    )


def run(
    runner: Runner, task_: PilotTask, inputs: Sequence[JobInput], *, seq: int = 0, attempt: int = 1
) -> AttemptReport:
    return runner.attempt(
        task_, make_job(task_, inputs, job_id=next(_next), attempt=attempt, seq=seq)
    )


def read_log(report: AttemptReport) -> str:
    assert report.log is not None
    return Path(report.log.url.removeprefix("file://")).read_text()


def list_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def get_error(report: AttemptReport) -> tuple[ErrorClass | None, str]:
    assert report.outcome is AttemptOutcome.FAILED, report
    assert report.outputs == []
    return report.error_class, report.message
