"""Tests that an output object that is too large is not read, in a real slot process."""

from pathlib import Path

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.needs import Resources
from tests.unit.pilot.attempts import get_error, make_python_tool, run
from tests.unit.pilot.builders import make_task, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.runner.files.written_outputs import make_bundle_output, make_writing_tool
from tests.unit.pilot.slot_runner import Runner


def test_large_output_object_is_refused_without_reading_it(runner: Runner, root: Path) -> None:
    """The sparse file takes no disk space."""
    process = make_python_tool(
        "open('cwl.output.json', 'wb').truncate(1 << 30)", outputs={"o": "Any"}
    )
    del process["stdout"]
    for document in (process, wrap_in_workflow(process)):
        before = read_peak_memory(runner)
        error_class, message = get_error(
            run(
                runner,
                make_task(
                    root,
                    document,
                    outputs=[make_bundle_output(root)],
                    resources=Resources(disk=2048),
                ),
                [write_input(root / "in" / "a.dat")],
            )
        )
        assert error_class is ErrorClass.TOOL_REFUSED, message
        assert "cwl.output.json has more than 16 MiB: let the tool write what is large" in message
        assert read_peak_memory(runner) < before + 64


def read_peak_memory(runner: Runner) -> int:
    """Return the peak memory of the slot process in MiB."""
    lines = Path(f"/proc/{runner.slot_pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM:"))) >> 10


def test_text_in_an_output_object_can_have_many_commas(runner: Runner, root: Path) -> None:
    content = b'{"o": "%s"}' % (b'[{,\\"' * 200_000)
    report = run(
        runner,
        make_task(root, make_writing_tool("Any"), outputs=[make_bundle_output(root)]),
        [write_input(root / "in" / "a.dat", data=content)],
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
