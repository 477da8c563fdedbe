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
from tests.integration.wms.catalogue import deliver, deliver_releases
from tests.integration.wms.line import Line
from tests.integration.wms.reports.test_releasing import tell
from tests.integration.wms.splitting.test_gathering import gather
from tests.integration.wms.splitting.test_splitting import accept
from tests.integration.wms.stage import Stage
from wms.db.jobs.leases import ClaimedJob


@pytest.fixture
def line(stage: Stage, dms: DmsClient) -> Line:
    return Line(stage, dms)


class RandomEvents:
    """Random events: two instances, pilots that report, fail and die, and a late catalogue."""

    def __init__(self, line: Line, second: Stage, pilots: Sequence[UUID], seed: int) -> None:
        self.line, self.both, self.random = line, (line.stage, second), Random(seed)
        self.leased_jobs: dict[UUID, list[ClaimedJob]] = {pilot: [] for pilot in pilots}
        self.unsent = list("abc")
        self.lost = Counter[int]()

    async def round(self) -> None:
        pilots = self.random.sample(list(self.leased_jobs), 2)
        others = [self.send(), self.catalogue(), *(self.line.split(at) for at in self.both)]
        self.random.shuffle(others)
        await asyncio.gather(*(self.work(pilot) for pilot in pilots), *others)

    async def work(self, pilot: UUID) -> None:
        at, jobs = self.random.choice(self.both), self.leased_jobs[pilot]
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
                self.leased_jobs[pilot] += [job for job in ended if self.lost[job.id] == 4]
                ended = [job for job in ended if self.lost[job.id] < 4]
                self.lost.update(job.id for job in ended)
                await at.overdue(*ended)
                await at.expire()
                await self.random.choice(self.both).finish(pilot, *ended)  # late

    async def send(self) -> None:
        if self.unsent:
            await accept(self.line.stage, self.line.steps[self.unsent.pop(0)])

    async def catalogue(self) -> None:
        if self.random.random() < 0.5:
            await deliver(self.line.stage, self.line.dms)

    async def is_over(self) -> bool:
        states = [await self.line.state(step) for step in "abc" if step not in self.unsent]
        return not self.unsent and all(state.final for state in states)


@pytest.mark.parametrize("seed", range(6))
async def test_maps_process_every_file_once_under_any_order_of_events(
    line: Line, second: Stage, tmp_path: Path, seed: int
) -> None:
    """Invariants 3, 5 and 7: tasks, files and ends of jobs come in any order."""
    await line.lay(tmp_path, files=12, backoff=0.0, retry=100)
    await run_until_over(RandomEvents, line, second, seed)
    for step in "abc":
        assert await line.seqs(step, JobState.FINISHED) == list(range(12))
        assert await line.stage.states(line.steps[step]) == {JobState.FINISHED: 12}
    await deliver(line.stage, line.dms)
    for task in line.steps.values():
        files = (await line.dms.list_files(task.main_output.dat_out_uid)).files
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
    line: Line, second: Stage, tmp_path: Path, shape: str, seed: int
) -> None:
    """Invariant 8: the files keep their order in the groups."""
    await line.lay(tmp_path, files=13, backoff=0.0, retry=100)
    for step, how in SHAPES[shape].items():
        gather(line, step, how)
    await run_until_over(RandomEvents, line, second, seed)
    inputs = await line.inputs("c")
    assert await line.stage.states(line.steps["c"]) == {JobState.FINISHED: len(inputs)}
    await deliver(line.stage, line.dms)
    line.steps["whole"] = line.steps["c"].model_copy(update={"uid": uuid4(), "step": "whole"})
    await line.send("whole")
    whole = await line.inputs("whole")
    assert inputs[: len(whole)] == whole != []
    async with line.stage.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM flows") == 0
        assert await connection.fetchval("SELECT count(*) FROM flow_entries") == 0


async def run_until_over(
    kind: type[RandomEvents], line: Line, second: Stage, seed: int, **more: Database
) -> None:
    pilots = [await line.stage.add_pilot(name=f"p{number}") for number in range(3)]
    turmoil = kind(line, second, pilots, seed, **more)
    for _ in range(200):
        await turmoil.round()
        if await turmoil.is_over():
            break
    assert await turmoil.is_over()


class RandomReleases(RandomEvents):
    """Random events in which files are released, too, at any time and repeatedly."""

    def __init__(
        self, line: Line, second: Stage, pilots: Sequence[UUID], seed: int, *, catalogue: Database
    ) -> None:
        super().__init__(line, second, pilots, seed)
        self.database, self.untold = catalogue, {"b": "a", "c": "b"}

    async def round(self) -> None:
        if self.untold and self.random.random() < 0.5:
            step = self.random.choice(list(self.untold))
            await tell(self.line, step, **{self.untold.pop(step): 1})
        await super().round()
        if self.random.random() < 0.5:
            await deliver_releases(self.line.stage, self.database)
            await self.look()

    async def look(self) -> None:
        """Check that a finished job has read each released file."""
        for step, before in (("b", "a"), ("c", "b")):
            written = self.line.steps[before].main_output.dat_out_uid
            page = await self.line.dms.list_files(written, released=True)
            released_seqs = {file.seq for file in page.files if file.released}
            assert released_seqs <= await read_by_finished(self.line, step)


async def read_by_finished(line: Line, step: str) -> set[int]:
    async with line.stage.database.connection() as connection:
        rows = await connection.fetch(
            "SELECT inputs FROM jobs WHERE task_uid = $1 AND state = $2",
            line.steps[step].uid,
            JobState.FINISHED,
        )
    return {file["seq"] for row in rows for file in row["inputs"]}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", ["maps", "groups", "groups of groups"])
async def test_no_needed_file_is_released_under_any_order_of_events(
    line: Line, second: Stage, catalogue: Database, tmp_path: Path, shape: str, seed: int
) -> None:
    """Invariant 4: files stay until their jobs have finished, and the jobs are the same."""
    await line.lay(tmp_path, files=12, backoff=0.0, retry=100)
    for step, how in SHAPES.get(shape, {}).items():
        gather(line, step, how)
    await run_until_over(RandomReleases, line, second, seed, catalogue=catalogue)
    for step in "abc":
        jobs = len(await line.seqs(step))
        assert await line.stage.states(line.steps[step]) == {JobState.FINISHED: jobs}
    assert await line.seqs("b") == list(range(4 if shape == "groups of groups" else 12))
    await deliver(line.stage, line.dms)
    await deliver_releases(line.stage, catalogue)
    for step, before in (("b", "a"), ("c", "b")):
        dataset = await line.dms.get_dataset(line.steps[before].main_output.dat_out_uid)
        jobs = len(await line.seqs(before))
        assert (dataset.count_files, dataset.state.readable) == (jobs, True)
        assert await read_by_finished(line, step) == set(range(jobs))
    async with line.stage.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM downstream_counts") == 0
