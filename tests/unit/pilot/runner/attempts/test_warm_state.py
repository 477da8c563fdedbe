"""Tests of the state that a warm worker keeps from one job to the next."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilot.runner.attempts.warm_inputs import add_inputs
from pilot.runner.tools.prepared_job import WarmCommand
from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.jobs.needs import Warm
from sluice.contracts.pilots.leases import PilotTask
from tests.unit.pilot.builders import make_task, write_input
from tests.unit.pilot.isolation import start_isolated_slot
from tests.unit.pilot.runner.attempts.warm_jobs import WarmJobs
from tests.unit.pilot.slot_runner import Runner


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = start_isolated_slot("open", tmp_path_factory.mktemp("pilot"))
    yield runner
    runner.close()


@pytest.fixture
def jobs(server: Runner, tmp_path: Path) -> Iterator[WarmJobs]:
    """Yield jobs of a slot without warm workers."""
    yield WarmJobs(server, tmp_path)
    server.replace_slot()


def make_task_with_listing(jobs: WarmJobs, *listing: Any) -> PilotTask:
    return jobs.task(requirements={"InitialWorkDirRequirement": {"listing": list(listing)}})


def test_file_that_a_warm_worker_keeps_open_does_not_change(jobs: WarmJobs) -> None:
    """Its blocks are not reused for an input of the next job."""
    warm_task = jobs.task()
    keep_open = "sys.kept = open(path, 'rb'); sys.was = sys.kept.read(); print(len(served))"
    assert jobs.run_and_read(warm_task, keep_open) == "1"
    for number in range(2, 6):
        code = "sys.kept.seek(0); print(len(served), sys.kept.read() == sys.was)"
        assert jobs.run_and_read(warm_task, code) == f"{number} True"


def test_initial_files_of_the_working_directory_belong_to_the_key(jobs: WarmJobs) -> None:
    fixed = make_task_with_listing(jobs, {"entryname": "settings", "entry": "threshold 1"})
    assert [jobs.run_and_read(fixed), jobs.run_and_read(fixed)] == ["1", "2"]
    other = make_task_with_listing(jobs, {"entryname": "settings", "entry": "threshold 2"})
    code = "print(len(served), open('settings').read())"
    assert jobs.run_and_read(other, code) == "1 threshold 2"
    of_job = make_task_with_listing(
        jobs, {"entryname": "settings", "entry": "for $(inputs.f.basename)"}
    )
    assert [jobs.run_and_read(of_job), jobs.run_and_read(of_job)] == ["1", "1"]


def test_inputs_in_the_working_directory_count_by_their_content(jobs: WarmJobs) -> None:
    warm_task = make_task_with_listing(jobs, {"entryname": "given", "entry": "$(inputs.f)"})
    assert [jobs.run_and_read(warm_task), jobs.run_and_read(warm_task)] == ["1", "2"], (
        "both inputs have the same text"
    )
    assert jobs.run_and_read(warm_task, "print(len(served), open('given').read()[:5])") == "1 print"


def test_secret_in_the_key_counts_with_its_version(tmp_path: Path) -> None:
    def make_key(version: int) -> object:
        warm_task = make_task(
            tmp_path, {}, warm=Warm(kind="a", key=["token"]),
            secrets={"token": SecretRef(name="places", version=version)},
        )  # fmt: skip
        file = write_input(tmp_path / "in" / "1.txt", data=b"x")
        values = {warm_task.dat_in_port: [{"class": "File", "location": "file:///in/1.txt"}]}
        return add_inputs(
            WarmCommand(warm_task.needs.warm or Warm(), 1), warm_task, [file], values
        ).loads

    assert make_key(1) == make_key(1)
    assert make_key(1) != make_key(2)
