"""Plans and chains for tests of append-only data sets."""

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
from sluice.contracts.templates.conditions import Equals
from sluice.contracts.templates.plan import Plan, Retention, Source, StepInput
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_plan, make_step

CORPUS = Collect(name="corpus", type="pages")
PAGES = {"type": Equals(value="pages")}


@dataclass
class FixedClock:
    """A clock that shows the time it was set to."""

    time: datetime = datetime(2026, 10, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


def make_collecting_plan(*, into: Collect | None = CORPUS, **more: Any) -> Plan:
    """Return a plan of one step whose output is collected."""
    wf = make_plan(make_step("only"), outputs=[("only", "out")], **more)
    outputs = [wf.outputs[0].model_copy(update={"collect": into})]
    return wf.model_copy(update={"outputs": outputs})


def make_growth_plan(**every: Any) -> Plan:
    """Return a plan that is triggered by new files in the corpus."""
    return make_collecting_plan(
        into=None,
        match=PAGES,
        trigger=Trigger(every=GrowthTrigger(**every)),
        retention=Retention(input="keep"),
    )


def make_scheduled_plan(schedule: str, zone: str = "UTC", **more: Any) -> Plan:
    """Return a plan with a schedule, without a data set unless it matches some."""
    template = make_collecting_plan(
        into=None, trigger=Trigger(schedule=schedule, zone=zone), **more
    )
    if more.get("match"):
        return template
    nothing = StepInput(
        port="", source=Source(step=None, port=""), mode=InputMode.NONE, optional=True
    )
    only = template.steps[0].model_copy(update={"inputs": [nothing], "single": True})
    return template.model_copy(
        update={"data_input": "", "retention": Retention(input="keep"), "steps": [only]}
    )


async def write_output(wfms: WfmsFixture, task: Task, files: int) -> None:
    """Write and register the files that the jobs of a task produce."""
    for output in task.outputs:
        folder = Path(output.dat_out_url.removeprefix("file://"))
        files_written = [
            _write(folder / f"{seq:08d}.1-page.txt", task.uid, seq) for seq in range(files)
        ]
        await wfms.dms.register_many_files(output.dat_out_uid, files_written)


def _write(path: Path, task: UUID, seq: int) -> NewFile:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = f"{task} {seq}".encode()
    path.write_bytes(content)
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return NewFile(
        seq=seq, name=path.name, size=len(content), checksum=checksum, url=f"file://{path}"
    )


async def run_chain(wfms: WfmsFixture, chain: Chain, *, files: int = 2) -> Chain:
    """Run a chain to its end with ``files`` output files, without their collection."""
    await wfms.start_steps()
    await wfms.deliver_messages()
    for task in [task for task in wfms.wms.tasks.values() if task.chain_uid == chain.uid]:
        await write_output(wfms, task, files)
    await wfms.end_running_tasks()
    await wfms.follow_watches()
    await wfms.deliver_messages()
    await wfms.upload_all()
    await wfms.watch_uploads()
    await wfms.follow_watches()
    ended = await wfms.get_chain(chain.uid)
    assert ended.state is ChainState.FINISHED
    return ended


async def run_collected_chain(
    wfms: WfmsFixture, name: str, *, files: int = 2, plan: Plan | None = None
) -> Chain:
    """Run a chain to its end and collect its output in the corpus."""
    template = wfms.add_template(plan or make_collecting_plan(), name=f"of-{name}")
    wfms.templates.remove(
        template
    )  # The chain is requested; the intake must not match the template.
    chain = await run_chain(
        wfms, await wfms.create_chain(await wfms.create_input(name), template), files=files
    )
    await wfms.collect_outputs()
    return await wfms.get_chain(chain.uid)


async def get_corpus(wfms: WfmsFixture) -> AppendOnlyDataset:
    (corpus_status,) = await wfms.dms.list_append_only_datasets()
    return corpus_status


async def start_triggered_chains(wfms: WfmsFixture) -> list[Chain]:
    """Start what is triggered, and return all chains of triggered templates, the oldest first."""
    await wfms.start_triggered_chains()
    await wfms.close_complete_datasets()
    await wfms.match_datasets()
    while await wfms.start_chains():
        pass
    return await list_triggered_chains(wfms)


async def list_triggered_chains(wfms: WfmsFixture) -> list[Chain]:
    names = {template.name for template in wfms.templates}
    listed = (await wfms.chains.list_chains(limit=500)).chains
    return [chain for chain in reversed(listed) if chain.template in names]


async def list_input_files(wfms: WfmsFixture, chains: list[Chain]) -> list[str]:
    """Return the names of all files in the inputs of the chains."""
    return [
        file.name
        for chain in chains
        for file in (await wfms.dms.list_files(chain.dataset_uid)).files
    ]


def get_output_dataset(chain: Chain) -> UUID:
    (uid,) = [dataset.uid for dataset in chain.datasets if dataset.port == "out"]
    return uid
