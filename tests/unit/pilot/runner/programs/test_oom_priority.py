"""Tests that the out-of-memory killer of the kernel ends a tool before its slot."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.pilot.attempts import make_python_tool, run
from tests.unit.pilot.builders import make_task, write_input
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner

#: Runs a command with the OOM priority in its first argument.
WITH_OOM_PRIORITY = ["sh", "-c", 'echo "$0" > /proc/self/oom_score_adj; exec "$@"']


@pytest.fixture(params=["in the open", "in the sandbox"])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the settings of a slot with or without a sandbox."""
    return {"sandbox": get_sandbox()} if request.param == "in the sandbox" else {}


@pytest.fixture(params=[0, 700])
def slot(
    request: pytest.FixtureRequest, settings: dict[str, Any], tmp_path: Path
) -> Iterator[tuple[Runner, int]]:
    """Start a slot and return it with its own OOM priority."""
    runner = Runner(
        tmp_path / "pilot",
        environment={"PYTHONPATH": str(Path.cwd())},
        settings=settings,
        before=[*WITH_OOM_PRIORITY, str(request.param)],
    )
    yield runner, request.param
    runner.close()


def test_tool_has_at_least_the_oom_priority_of_its_slot(
    slot: tuple[Runner, int], root: Path
) -> None:
    runner, own = slot
    tool = make_python_tool("print(open('/proc/self/oom_score_adj').read().strip())")
    workflow = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {"f": "File"},
        "outputs": {"o": {"type": "File", "outputSource": "only/o"}},
        "steps": {"only": {"run": tool, "in": {"f": "f"}, "out": ["o"]}},
    }
    for number, executable in enumerate((tool, workflow)):
        report = run(
            runner,
            make_task(root, executable),
            [write_input(root / "in" / f"{number}.dat")],
            seq=number,
        )
        text = Path(report.outputs[0].url.removeprefix("file://")).read_text()
        assert int(text) == max(own, 500)
        assert int(Path(f"/proc/{runner.slot_pid}/oom_score_adj").read_text()) == own
