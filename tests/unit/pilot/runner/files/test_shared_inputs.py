"""Tests of shared inputs: they are fetched once for all jobs of a task, and a changed file is not
used again."""

from pathlib import Path

from pilot.folders.run_folder import RunFolder
from pilot.runner.files.input_protection import MAX_COPIED
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.pilots.leases import PilotTask
from tests.unit.pilot.builders import make_job, make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner

JOIN = make_tool(
    ["cat"],
    inputs={"f": {"type": "File"}, "all": {"type": "File[]"}, "one": {"type": "File"}},
    arguments=["$(inputs.f)", "$(inputs.all)", "$(inputs.one)"],
)


def make_shared_task(root: Path, last: bytes = b"z") -> PilotTask:
    files = [
        write_input(root / "a" / "x", seq=0, data=b"x"),
        write_input(root / "b" / "x", seq=1, data=b"y"),
        write_input(root / "c" / "z", data=last),
    ]
    ports = ("all", "all", "one")
    shared = [
        file.model_copy(update={"port": port}) for file, port in zip(files, ports, strict=True)
    ]
    return make_task(root, JOIN, side_ports=["all", "one"], shared_inputs=shared)


def run_job(
    runner: Runner, task_: PilotTask, file: InputFile, number: int
) -> tuple[AttemptOutcome, ErrorClass | None]:
    report = runner.attempt(task_, make_job(task_, [file], job_id=number, seq=number))
    return report.outcome, report.error_class


def test_shared_inputs_are_fetched_once_for_all_jobs_of_a_task(runner: Runner, root: Path) -> None:
    shared = make_shared_task(root)
    own = [
        write_input(root / "in" / f"{number}.dat", data=str(number).encode()) for number in range(3)
    ]
    assert run_job(runner, shared, own[0], 0) == (AttemptOutcome.FINISHED, None)
    for name in ("a/x", "b/x", "c/z"):
        (root / name).unlink()
    assert run_job(runner, shared, own[1], 1) == (AttemptOutcome.FINISHED, None)
    assert [(root / "out" / f"0000000{n}.1-{n}.out").read_text() for n in range(2)] == [
        "0xyz",
        "1xyz",
    ]
    shared_folder = Path(RunFolder(runner.run.path).shared_folder(runner.slot_pid)) / str(
        shared.uid
    )
    assert len(list(shared_folder.iterdir())) == 3
    runner.forget(shared)
    assert run_job(runner, make_shared_task(root / "other"), own[2], 2) == (
        AttemptOutcome.FINISHED,
        None,
    )
    assert not shared_folder.exists()


def test_changed_shared_input_fails_the_next_job(runner: Runner, root: Path) -> None:
    shared = make_shared_task(root, bytes(MAX_COPIED + 1))
    own = write_input(root / "in" / "0.dat")
    assert run_job(runner, shared, own, 0) == (AttemptOutcome.FINISHED, None)
    with open(root / "c" / "z", "ab") as file:
        file.write(b"more")
    assert run_job(runner, shared, own, 1) == (AttemptOutcome.FAILED, ErrorClass.CHECKSUM_MISMATCH)
