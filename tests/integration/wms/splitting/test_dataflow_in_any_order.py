"""Dataflow scheduling works under any order of events, with the real DMS."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from uuid import UUID, uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import JobState
from sluice.servicekit.database import Database
from tests.integration.wms.catalogue import deliver_files, deliver_releases
from tests.integration.wms.chain_of_steps import ChainOfSteps
from tests.integration.wms.reports.downstream_counts import send_downstream_counts
from tests.integration.wms.splitting.gathering_steps import make_gathering_step
from tests.integration.wms.splitting.split_tasks import accept_new_task
from tests.integration.wms.wms_fixture import WmsFixture
from wms.db.jobs.leases import ClaimedJob


@pytest.fixture
def chain(wms: WmsFixture, dms: DmsClient) -> ChainOfSteps:
    return ChainOfSteps(wms, dms)


class RandomEvents:
    """Random events: two instances, pilots that report, fail and die, and a late catalogue."""

    def __init__(
        self, chain: ChainOfSteps, other_wms: WmsFixture, pilots: Sequence[UUID], seed: int
    ) -> None:
        self.chain, self.instances, self.random = chain, (chain.wms, other_wms), Random(seed)
        self.leased_jobs: dict[UUID, list[ClaimedJob]] = {pilot: [] for pilot in pilots}
        self.unsent_tasks = list("abc")
        self.lost_jobs = Counter[int]()

    async def run_round(self) -> None:
        pilots = self.random.sample(list(self.leased_jobs), 2)
        others = [
            self.send_tasks(),
            self.update_catalogue(),
            *(self.chain.split(at) for at in self.instances),
        ]
        self.random.shuffle(others)
        await asyncio.gather(*(self.run_jobs(pilot) for pilot in pilots), *others)

    async def run_jobs(self, pilot: UUID) -> None:
        at, jobs = self.random.choice(self.instances), self.leased_jobs[pilot]
        jobs += await at.lease(pilot, self.random.randint(1, 4))
        self.random.shuffle(jobs)
        count = self.random.randint(0, len(jobs))
        ended, self.leased_jobs[pilot] = jobs[:count], jobs[count:]
        match self.random.choice(["finish", "finish", "finish", "fail", "lose"]):
            case "finish":
                await at.finish(pilot, *ended)
            case "fail":
                await at.fail(pilot, *ended)
            case "lose":
                # A job that is lost five times in a row waits for a person.
                self.leased_jobs[pilot] += [job for job in ended if self.lost_jobs[job.id] == 4]
                ended = [job for job in ended if self.lost_jobs[job.id] < 4]
                self.lost_jobs.update(job.id for job in ended)
                await at.backdate_leases(*ended)
                await at.expire_leases()
                await self.random.choice(self.instances).finish(pilot, *ended)  # late

    async def send_tasks(self) -> None:
        if self.unsent_tasks:
            await accept_new_task(self.chain.wms, self.chain.steps[self.unsent_tasks.pop(0)])

    async def update_catalogue(self) -> None:
        if self.random.random() < 0.5:
            await deliver_files(self.chain.wms, self.chain.dms)

    async def is_over(self) -> bool:
        states = [await self.chain.state(step) for step in "abc" if step not in self.unsent_tasks]
        return not self.unsent_tasks and all(state.final for state in states)


@pytest.mark.parametrize("seed", range(6))
async def test_maps_process_every_file_once_under_any_order_of_events(
    chain: ChainOfSteps, other_wms: WmsFixture, tmp_path: Path, seed: int
) -> None:
    """Invariants 3, 5 and 7: tasks, files and ends of jobs come in any order."""
    await chain.create_tasks(tmp_path, files=12, backoff=0.0, retry=100)
    await run_until_over(RandomEvents, chain, other_wms, seed)
    for step in "abc":
        assert await chain.job_seqs(step, JobState.FINISHED) == list(range(12))
        assert await chain.wms.states(chain.steps[step]) == {JobState.FINISHED: 12}
    await deliver_files(chain.wms, chain.dms)
    for task in chain.steps.values():
        files = (await chain.dms.list_files(task.main_output.dat_out_uid)).files
        assert [file.seq for file in files] == list(range(12))


#: How steps b and c gather files. Other steps are maps.
SHAPES = {
    "groups": {"c": "groups"},
    "tree": {"c": "tree"},
    "groups of groups": {"b": "groups", "c": "groups"},
    "a tree of groups": {"b": "groups", "c": "tree"},
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES)
async def test_groups_equal_those_of_the_whole_data_set_under_any_order_of_events(
    chain: ChainOfSteps, other_wms: WmsFixture, tmp_path: Path, shape: str, seed: int
) -> None:
    """Invariant 8: the files keep their order in the groups."""
    await chain.create_tasks(tmp_path, files=13, backoff=0.0, retry=100)
    for step, fields in SHAPES[shape].items():
        make_gathering_step(chain, step, fields)
    await run_until_over(RandomEvents, chain, other_wms, seed)
    inputs = await chain.job_inputs("c")
    assert await chain.wms.states(chain.steps["c"]) == {JobState.FINISHED: len(inputs)}
    await deliver_files(chain.wms, chain.dms)
    chain.steps["whole"] = chain.steps["c"].model_copy(update={"uid": uuid4(), "step": "whole"})
    await chain.send("whole")
    expected_jobs = await chain.job_inputs("whole")
    assert inputs[: len(expected_jobs)] == expected_jobs != []
    async with chain.wms.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flows") == 0
        assert await connection.fetchval("SELECT count(*) FROM flow_entries") == 0


async def run_until_over(
    kind: type[RandomEvents],
    chain: ChainOfSteps,
    other_wms: WmsFixture,
    seed: int,
    **more: Database,
) -> None:
    pilots = [await chain.wms.add_pilot(name=f"p{number}") for number in range(3)]
    random_events = kind(chain, other_wms, pilots, seed, **more)
    for _ in range(200):
        await random_events.run_round()
        if await random_events.is_over():
            break
    assert await random_events.is_over()


class RandomReleases(RandomEvents):
    """Random events in which files are released, too, at any time and repeatedly."""

    def __init__(
        self,
        chain: ChainOfSteps,
        other_wms: WmsFixture,
        pilots: Sequence[UUID],
        seed: int,
        *,
        catalogue: Database,
    ) -> None:
        super().__init__(chain, other_wms, pilots, seed)
        self.database, self.unreported_steps = catalogue, {"b": "a", "c": "b"}

    async def run_round(self) -> None:
        if self.unreported_steps and self.random.random() < 0.5:
            step = self.random.choice(list(self.unreported_steps))
            await send_downstream_counts(self.chain, step, **{self.unreported_steps.pop(step): 1})
        await super().run_round()
        if self.random.random() < 0.5:
            await deliver_releases(self.chain.wms, self.database)
            await self.check_releases()

    async def check_releases(self) -> None:
        """Check that a finished job has read each released file."""
        for step, before in (("b", "a"), ("c", "b")):
            output_uid = self.chain.steps[before].main_output.dat_out_uid
            page = await self.chain.dms.list_files(output_uid, released=True)
            released_seqs = {file.seq for file in page.files if file.released}
            assert released_seqs <= await list_read_files(self.chain, step)


async def list_read_files(chain: ChainOfSteps, step: str) -> set[int]:
    async with chain.wms.database.connection() as connection:
        rows = await connection.fetch(
            "SELECT inputs FROM jobs WHERE task_uid = $1 AND state = $2",
            chain.steps[step].uid,
            JobState.FINISHED,
        )
    return {file["seq"] for row in rows for file in row["inputs"]}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", ["maps", "groups", "groups of groups"])
async def test_no_needed_file_is_released_under_any_order_of_events(
    chain: ChainOfSteps,
    other_wms: WmsFixture,
    catalogue: Database,
    tmp_path: Path,
    shape: str,
    seed: int,
) -> None:
    """Invariant 4: files stay until their jobs have finished, and the jobs are the same."""
    await chain.create_tasks(tmp_path, files=12, backoff=0.0, retry=100)
    for step, fields in SHAPES.get(shape, {}).items():
        make_gathering_step(chain, step, fields)
    await run_until_over(RandomReleases, chain, other_wms, seed, catalogue=catalogue)
    for step in "abc":
        jobs = len(await chain.job_seqs(step))
        assert await chain.wms.states(chain.steps[step]) == {JobState.FINISHED: jobs}
    assert await chain.job_seqs("b") == list(range(4 if shape == "groups of groups" else 12))
    await deliver_files(chain.wms, chain.dms)
    await deliver_releases(chain.wms, catalogue)
    for step, before in (("b", "a"), ("c", "b")):
        dataset = await chain.dms.get_dataset(chain.steps[before].main_output.dat_out_uid)
        jobs = len(await chain.job_seqs(before))
        assert (dataset.count_files, dataset.state.readable) == (jobs, True)
        assert await list_read_files(chain, step) == set(range(jobs))
    async with chain.wms.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM downstream_counts") == 0
