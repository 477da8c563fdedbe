"""A volume of the demonstration, as planned and as processed."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ocr.scans import page_name
from ocr.score import score
from sluice.clientkit.connection import Connection
from sluice.clientkit.transfer.results import Output, fetch_results, write_manifest
from sluice.clientkit.transfer.upload import upload_files
from sluice.clientkit.watch.chain import failed_jobs, failures_json, follow_chain
from sluice.clientkit.watch.progress import StepBars
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.jobs.tasks import Job
from sluice.contracts.templates.templates import Template

#: Tools write this into their log when they have loaded a configuration.
LOADED = ": loaded "


@dataclass(frozen=True, slots=True)
class PlannedVolume:
    """A volume to generate. `damaged` is the number of a page to damage."""

    name: str
    seed: int
    pages: int
    damaged: int | None = None

    def damaged_pages(self) -> list[str]:
        """Return the names of the pages that are damaged on purpose."""
        return [] if self.damaged is None else [page_name(self.name, self.damaged)]


@dataclass(slots=True)
class ProcessedVolume:
    """A volume after its way through the system.

    `configuration` is the version of the layout configuration that it used. `loads` is the number
    of times that its jobs loaded a configuration. `kinds` are the errors by kind of page. Times are
    of the monotonic clock.
    """

    plan: PlannedVolume
    chain: Chain
    tasks: Sequence[ChainTask]
    failures: Sequence[tuple[str, Job]]
    started: float
    ended: float
    configuration: int | None
    loads: int
    outputs: Sequence[Output] = field(default_factory=list)
    kinds: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Return the time from the closed data set to the end."""
        return self.ended - self.started

    def failed_pages(self) -> list[str]:
        """Return the names of the pages with a job that failed permanently."""
        return sorted(
            {Path(name).name.split(".")[0] for _, job in self.failures for name in job.inputs[:1]}
        )

    def in_order(self) -> bool:
        """Return whether each undamaged page is there once, and in order."""
        names = [page_name(self.plan.name, number) for number in range(1, self.plan.pages + 1)]
        expected = [name for name in names if name not in self.plan.damaged_pages()]
        return [output.path.stem for output in self.outputs if output.output == "pages"] == expected


async def process_volume(
    connection: Connection,
    template: Template,
    plan: PlannedVolume,
    folder: Path,
    *,
    rank: float,
    progress: StepBars,
    quarter_done: asyncio.Event,
) -> ProcessedVolume:
    """Send a volume through the system, and return its results.

    `quarter_done` is set when a quarter of its pages are transcribed.
    """
    scans = sorted((folder / "scans" / plan.name).iterdir())
    dataset = await upload_files(
        connection, scans, dataset=NewDataset(name=plan.name, on_demand=True)
    )
    started = time.monotonic()
    chain = await connection.operator.request_chain(
        dataset.uid,
        template.name,
        run_template=template.id,
        params={"volume": plan.name},
        rank=rank,
    )
    tasks: list[ChainTask] = []

    def on_progress(chain: Chain, latest_tasks: Sequence[ChainTask]) -> None:
        tasks[:] = latest_tasks
        progress.show(chain, latest_tasks)
        jobs = next((task.jobs for task in latest_tasks if task.step == "transcribe"), None)
        if jobs is not None and jobs.finished >= plan.pages / 4:
            quarter_done.set()

    chain = await follow_chain(connection, chain, on_look=on_progress)
    volume = ProcessedVolume(
        plan=plan,
        chain=chain,
        tasks=tasks,
        failures=await failed_jobs(connection, tasks),
        started=started,
        ended=time.monotonic(),
        configuration=await _find_configuration(connection, chain),
        loads=await _count_loads(connection, tasks),
    )
    if chain.state is ChainState.FINISHED:
        out = folder / "out" / plan.name
        volume.outputs = await fetch_results(connection, chain, out)
        failed = failures_json(volume.failures)
        write_manifest(out, volume.outputs, chain=chain, failed_jobs=failed)
        texts = [output.path for output in volume.outputs if output.output == "texts"]
        volume.kinds = score(folder / "truth" / plan.name, texts)
    return volume


async def _find_configuration(connection: Connection, chain: Chain) -> int | None:
    uses = await connection.operator.list_asset_uses("ocr-layout")
    for use in uses.versions:
        if any(user.uid == chain.uid for user in use.chains):
            return use.version.version
    return None


async def _count_loads(connection: Connection, tasks: Sequence[ChainTask]) -> int:
    """Return the number of loads in the logs of all jobs that load a configuration."""
    loads = 0
    for task in tasks:
        if task.step in ("layout", "transcribe"):
            page = await connection.operator.list_jobs(task.task_uid, limit=1000)
            for job in page.jobs:
                loads += (await _get_log(connection, job.id)).count(LOADED)
    return loads


async def _get_log(connection: Connection, job: int) -> str:
    """Return the log of a job.

    The log reaches its storage after the report of the job, so this function waits for it.

    Raises:
        NotFound: The log is not there after 30 seconds.
    """
    deadline = time.monotonic() + 30
    while True:
        try:
            return await connection.operator.get_job_log(job)
        except NotFound:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(0.5)
