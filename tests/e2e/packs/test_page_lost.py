"""A page whose worker dies is processed elsewhere exactly once, on both transports.

The pilots are real; the stages are the warm dummies of the OCR template.
"""

import asyncio
import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.template_files import read_template_files
from sluice.clientkit.transfer.results import fetch_results
from sluice.clientkit.transfer.upload import upload_files
from sluice.clientkit.watch.chain import follow_chain
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.states import AttemptOutcome, ChainState, ErrorClass, JobState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.jobs.tasks import Attempt, Job
from tests.e2e.conftest import print_errors_on_failure
from tests.e2e.systems import System, run_live_system
from tests.waiting import eventually

PACK = Path(__file__).resolve().parents[3] / "templates" / "ocr"
#: The third page takes longer in the first two stages.
NAMES = [f"page-{number}" for number in range(1, 9)]
LOST_PAGE = "page-3"
PARAMS = {
    **{"scale_1": 1, "scale_2": 1, "scale_3": 0},
    **{f"difference_{number}": 0 for number in (1, 2, 3)},
}


@pytest.fixture(
    params=[
        pytest.param("in-process", marks=pytest.mark.xdist_group("e2e-page-lost")),
        pytest.param(
            "rabbitmq",
            marks=[
                pytest.mark.xdist_group("e2e-stack"),
                pytest.mark.long("tests/e2e/packs/test_spd.py kills pilots of the same stack"),
            ],
        ),
    ]
)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[System]:
    """Yield a system of two pilots with one slot each."""
    with _open_system(request, monkeypatch) as system:
        yield system


@contextmanager
def _open_system(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[System]:
    if request.param == "in-process":
        with run_live_system("--pilots", "2", "--slots", "1") as system:
            yield system
        return
    stack = request.getfixturevalue("stack")
    monkeypatch.setenv("SLUICE_DMS_URL", stack.dms_url)
    with print_errors_on_failure(stack.start_again()) as system:
        yield system


def _write_pages(folder: Path) -> list[Path]:
    folder.mkdir()
    for name in NAMES:
        page = {"name": name, "size": 3 if name == LOST_PAGE else 0.01}
        (folder / f"{name}.dummy").write_text(json.dumps(page))
    return sorted(folder.iterdir())


async def _request_chain(connection: Connection, pages: list[Path]) -> Chain:
    files = await asyncio.to_thread(read_template_files, [PACK / "dummy.cwl"])
    template = await connection.operator.store_run_template(files.new("dummies"))
    dataset = await upload_files(
        connection, pages, dataset=NewDataset(name="dummies", on_demand=True)
    )
    return await connection.operator.request_chain(
        dataset.uid, template.name, run_template=template.id, params=PARAMS
    )


async def _list_jobs(connection: Connection, chain: Chain, step: str) -> list[Job]:
    """Return the jobs of a step, or none while the WMS does not know the step."""
    tasks = (await connection.operator.list_tasks(chain_uid=chain.uid)).tasks
    return [
        job
        for task in tasks
        if task.step == step and task.jobs
        for job in (await connection.operator.list_jobs(task.task_uid, full=True)).jobs
    ]


async def _list_attempts(
    connection: Connection, chain: Chain, step: str
) -> dict[str, list[Attempt]]:
    """Return the attempts by page."""
    jobs = [
        await connection.operator.get_job(job.id)
        for job in await _list_jobs(connection, chain, step)
    ]
    return {Path(job.inputs[0]).stem: job.attempts for job in jobs}


async def _wait_for_slow_page(
    connection: Connection, chain: Chain, step: str, system: System
) -> tuple[psutil.Process, list[psutil.Process]]:
    """Return the pilot that processes the slow page, and its warm workers."""
    processes: list[tuple[psutil.Process, list[psutil.Process]]] = []

    async def is_being_processed() -> bool:
        for job in await _list_jobs(connection, chain, step):
            if job.state is JobState.RUNNING and job.inputs == [f"{LOST_PAGE}.dummy"]:
                processes.extend(
                    (pilot, tools)
                    for pilot in system.pilots()
                    if _get_pilot_name(pilot) == job.pilot_name
                    and (tools := _list_tool_processes(pilot))
                )
        return bool(processes)

    await eventually(
        is_being_processed, what=f"{LOST_PAGE} is being processed in {step}", seconds=60
    )
    [pilots_with_jobs] = processes
    return pilots_with_jobs


def _get_pilot_name(pilot: psutil.Process) -> str | None:
    """Return a pilot's name, or None while it starts or ends."""
    try:
        return pilot.environ().get("SLUICE_PILOT_NAME")
    except psutil.Error:
        return None


def _list_tool_processes(pilot: psutil.Process) -> list[psutil.Process]:
    """Return the processes of `ocr-dummy` itself, without their sandboxes."""
    try:
        below = pilot.children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [
        process
        for process in below
        if any(word.endswith("/ocr-dummy") for word in _read_command(process)[:2])
    ]


def _read_command(process: psutil.Process) -> list[str]:
    """Return the command of a process; it is empty if the process has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


async def test_page_of_a_killed_worker_is_processed_elsewhere_once(
    system: System, tmp_path: Path
) -> None:
    pages = _write_pages(tmp_path / "pages")
    async with connected(system.url) as connection:
        chain = await _request_chain(connection, pages)
        pilot, _ = await _wait_for_slow_page(connection, chain, "first", system)
        pilot.send_signal(signal.SIGKILL)
        _, tools = await _wait_for_slow_page(connection, chain, "second", system)
        for tool in tools:
            tool.send_signal(signal.SIGKILL)
        chain = await follow_chain(connection, chain, on_look=lambda _chain, _tasks: None)
        assert chain.state is ChainState.FINISHED, chain.reason
        first, second = [
            await _list_attempts(connection, chain, step) for step in ("first", "second")
        ]
        outputs = await fetch_results(connection, chain, tmp_path / "out")
    for attempts in (*first.values(), *second.values()):
        outcomes = [attempt.outcome for attempt in attempts]
        assert outcomes.count(AttemptOutcome.FINISHED) == 1, attempts
    # The page takes so long that the other pilot may have a duplicate attempt.
    [done] = [one for one in first[LOST_PAGE] if one.outcome is AttemptOutcome.FINISHED]
    [killed] = [one for one in first[LOST_PAGE] if one.error_class is ErrorClass.PILOT_LOST]
    assert killed.pilot_uid != done.pilot_uid
    assert any("SIGKILL" in one.message for one in second[LOST_PAGE])
    assert [output.path.stem for output in outputs] == NAMES
    for output in outputs:
        stages = json.loads(output.path.read_text())["stages"]
        assert [stage["stage"] for stage in stages] == ["first", "second", "third"]
