"""Chains whose outputs are collected in append-only data sets, and the templates that use those."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.states import ChainState, InputMode
from sluice.contracts.data.append_only import Collect, GrowthTrigger, Trigger
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.data.datasets import NewFile
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.templates.plan import Equals, Plan, Retention, Source, StepInput
from tests.integration.wfms.world import World
from tests.unit.wfms.chains.plans import plan, step

CORPUS = Collect(name="corpus", type="pages")
PAGES = {"type": Equals(value="pages")}


@dataclass
class SetClock:
    """A clock that shows the time it was set to."""

    time: datetime = datetime(2026, 10, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


def collecting(*, into: Collect | None = CORPUS, **more: Any) -> Plan:
    """Return a plan of one step whose output is collected."""
    wf = plan(step("only"), outputs=[("only", "out")], **more)
    outputs = [wf.outputs[0].model_copy(update={"collect": into})]
    return wf.model_copy(update={"outputs": outputs})


def grown(**every: Any) -> Plan:
    """Return a plan that is triggered by new files in the corpus."""
    return collecting(
        into=None,
        match=PAGES,
        trigger=Trigger(every=GrowthTrigger(**every)),
        retention=Retention(input="keep"),
    )


def scheduled(schedule: str, zone: str = "UTC", **more: Any) -> Plan:
    """Return a plan with a schedule, without a data set unless it matches some."""
    template = collecting(into=None, trigger=Trigger(schedule=schedule, zone=zone), **more)
    if more.get("match"):
        return template
    nothing = StepInput(
        port="", source=Source(step=None, port=""), mode=InputMode.NONE, optional=True
    )
    only = template.steps[0].model_copy(update={"inputs": [nothing], "single": True})
    return template.model_copy(
        update={"data_input": "", "retention": Retention(input="keep"), "steps": [only]}
    )


async def write_output(world: World, task: Task, files: int) -> None:
    """Write and register the files that the jobs of a task produce."""
    for output in task.outputs:
        folder = Path(output.dat_out_url.removeprefix("file://"))
        files_written = [
            _write(folder / f"{seq:08d}.1-page.txt", task.uid, seq) for seq in range(files)
        ]
        await world.dms.register_files(output.dat_out_uid, files_written)


def _write(path: Path, task: UUID, seq: int) -> NewFile:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = f"{task} {seq}".encode()
    path.write_bytes(content)
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return NewFile(
        seq=seq, name=path.name, size=len(content), checksum=checksum, url=f"file://{path}"
    )


async def carry(world: World, chain: Chain, *, files: int = 2) -> Chain:
    """Run a chain to its end with ``files`` output files, without their collection."""
    await world.start_steps()
    await world.deliver()
    for task in [task for task in world.wms.tasks.values() if task.chain_uid == chain.uid]:
        await write_output(world, task, files)
    await world.end_running_tasks()
    await world.follow()
    await world.deliver()
    await world.upload_all()
    await world.watch_uploads()
    await world.follow()
    ended = await world.chain(chain.uid)
    assert ended.state is ChainState.FINISHED
    return ended


async def collect(world: World, name: str, *, files: int = 2, plan: Plan | None = None) -> Chain:
    """Run a chain to its end and collect its output in the corpus."""
    template = world.template(plan or collecting(), name=f"of-{name}")
    world.templates.remove(
        template
    )  # The chain is requested; the intake must not match the template.
    chain = await carry(
        world, await world.new_chain(await world.input(name), template), files=files
    )
    await world.collect_outputs()
    return await world.chain(chain.uid)


async def corpus(world: World) -> AppendOnlyDataset:
    (corpus_status,) = await world.dms.list_append_only_datasets()
    return corpus_status


async def take(world: World) -> list[Chain]:
    """Start what is triggered, and return all chains of triggered templates, the oldest first."""
    await world.start_triggered_chains()
    await world.close_slices()
    await world.take_in()
    while await world.start_chains():
        pass
    return await taken(world)


async def taken(world: World) -> list[Chain]:
    names = {template.name for template in world.templates}
    listed = (await world.chains.list_chains(limit=500)).chains
    return [chain for chain in reversed(listed) if chain.template in names]


async def files_given(world: World, chains: list[Chain]) -> list[str]:
    """Return the names of all files in the inputs of the chains."""
    return [
        file.name
        for chain in chains
        for file in (await world.dms.list_files(chain.dataset_uid)).files
    ]


def output_of(chain: Chain) -> UUID:
    (uid,) = [dataset.uid for dataset in chain.datasets if dataset.port == "out"]
    return uid
