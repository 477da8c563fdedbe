"""Process detector runs with a live system, for end-to-end tests."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from spd.daq import main as daq

from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.transfer.results import Output, fetch_results
from sluice.clientkit.transfer.upload import upload_files
from sluice.clientkit.watch.chain import failed_jobs, follow_chain, wait_for_chain
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.data.datasets import Dataset, NewDataset
from sluice.contracts.data.runs import NewPeriod, NewRun
from sluice.contracts.jobs.tasks import Job
from sluice.contracts.templates.templates import NewTemplate, Template

PERIOD = "2026-A"
WORKFLOW = Path(__file__).resolve().parents[3] / "templates" / "spd" / "workflow.cwl"

Watch = Callable[[Chain, Sequence[ChainTask]], None]


@dataclass(frozen=True, slots=True)
class GeneratedRun:
    number: int
    frames: list[Path]
    truth: Path


@dataclass(frozen=True, slots=True)
class FinishedChain:
    chain: Chain
    failures: Sequence[tuple[str, Job]]
    outputs: Sequence[Output]

    def list_merged_files(self) -> list[Path]:
        return [output.path for output in self.outputs if output.path.suffix == ".root"]


def generate_run(
    folder: Path, number: int, *, frames: int, damage: int | None = None
) -> GeneratedRun:
    out, truth = folder / f"daq-{number}", folder / f"truth-{number}.json"
    arguments = [
        "--out",
        str(out),
        "--truth",
        str(truth),
        "--run",
        str(number),
        "--frames",
        str(frames),
        "--seed",
        str(40 + number),
    ]
    assert daq([*arguments, *(["--damage", str(damage)] if damage else [])]) == 0
    return GeneratedRun(number, sorted(out.glob("*.raw")), truth)


async def register_run(connection: Connection, run: GeneratedRun) -> Dataset:
    """Register a run and its frames, as the data acquisition does."""
    await connection.dms.register_run(NewRun(number=run.number, period=PERIOD))
    meta = {"type": "raw", "detector": "spd"}
    new = NewDataset(name=f"run-{run.number}", meta=meta, run=run.number, period=PERIOD)
    return await upload_files(connection, run.frames, dataset=new)


async def follow_run(
    connection: Connection, dataset: UUID, *, template: Template, out: Path, watch: Watch
) -> FinishedChain:
    """Follow the chain that the intake makes for the data set to its end."""
    chain = await follow_chain(connection, await wait_for_chain(connection, dataset), on_look=watch)
    tasks = (await connection.operator.list_tasks(chain_uid=chain.uid)).tasks
    return FinishedChain(
        chain=chain,
        failures=await failed_jobs(connection, tasks),
        outputs=await fetch_results(connection, chain, out),
    )


def ignore_tasks(chain: Chain, tasks: Sequence[ChainTask]) -> None:
    """Do nothing; the default of ``look``."""


def process_runs(
    url: str, runs: Sequence[GeneratedRun], *, out: Path, watch: Watch = ignore_tasks
) -> list[FinishedChain]:
    """Process all runs concurrently."""

    async def process_all() -> list[FinishedChain]:
        async with connected(url) as connection:
            template = await connection.operator.store_template(
                NewTemplate(name="spd", cwl=WORKFLOW.read_text())
            )
            await connection.dms.register_period(NewPeriod(name=PERIOD))
            datasets = [await register_run(connection, run) for run in runs]
            places = [
                (dataset.uid, out / str(run.number))
                for dataset, run in zip(datasets, runs, strict=True)
            ]
            outcomes = [
                follow_run(connection, uid, template=template, out=place, watch=watch)
                for uid, place in places
            ]
            return list(await asyncio.gather(*outcomes))

    return asyncio.run(process_all())


def follow_runs(url: str, runs: Sequence[GeneratedRun], *, out: Path) -> list[FinishedChain]:
    """Follow runs that were registered before, on any system in the same folder."""

    async def process_all() -> list[FinishedChain]:
        async with connected(url) as connection:
            template = await connection.operator.get_template("spd")
            uids = {
                chain.dataset_name: chain.dataset_uid
                for chain in (await connection.operator.list_chains()).chains
            }
            places = [(uids[f"run-{run.number}"], out / str(run.number)) for run in runs]
            outcomes = [
                follow_run(connection, uid, template=template, out=place, watch=ignore_tasks)
                for uid, place in places
            ]
            return list(await asyncio.gather(*outcomes))

    return asyncio.run(process_all())
