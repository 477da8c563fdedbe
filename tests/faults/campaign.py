"""One run of the suite: work, faults, rest, and the look at what is left."""

import asyncio
import shutil
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from stack.running_stack import RunningStack, started
from tests.e2e.systems import LEASE, NO_CONTAINERS, QUICK_LEASES
from tests.faults.broker import Tap
from tests.faults.checker.checks import Finding
from tests.faults.checker.load import count_messages
from tests.faults.checker.settle import settle
from tests.faults.checker.snapshot import Snapshot
from tests.faults.clocks import Clocks
from tests.faults.feeding import feeder
from tests.faults.injector import Injector
from tests.faults.progress import Progress
from tests.faults.report import Report, begun_beside, recoveries
from tests.faults.schedule import DESTINATIONS, REPLICAS, SERVICES, Fault, make_schedule
from tests.faults.stack import StackControl, write_compose
from tests.faults.storage import SmallDisk
from tests.faults.work import MARKER, Arrival, Plan, jobs_in, make_work

#: Where the defaults would make a run wait for minutes. A job may lose many pilots here, and none
#: is a poison job for that.
ENVIRONMENT = {
    **QUICK_LEASES,
    "SLUICE_WMS_LOSSES": "50",
    "SLUICE_DMS_SWEEP_AGAIN_SECONDS": "20",
    "SLUICE_DMS_MAX_BACKOFF_SECONDS": "10",
    **NO_CONTAINERS,
}


@dataclass(frozen=True, slots=True)
class Size:
    """``work_limit``, ``rest_limit``: seconds until the chains have ended, and until everything has
    come to rest. The disk has room for what the pack's merges ask for."""

    plan: Plan
    faults: int
    spacing: float
    work_limit: float
    rest_limit: float
    slots: int = 4
    disk_megabytes: int = 2048


def run_campaign(folder: Path, size: Size, *, seed: int) -> Report:
    """In ``folder``, which is emptied first. Raises ``OSError`` where the stack does not start."""
    schedule = make_schedule(seed, faults=size.faults, spacing=size.spacing, lease=LEASE)
    shutil.rmtree(folder, ignore_errors=True)
    work = make_work(folder / "work", size.plan, seed=seed)
    clocks = Clocks(folder / "clocks", SERVICES)
    with (
        small_disk(folder / "stack" / "data", size) as disk,
        stack_with_clocks(folder, clocks, size) as stack,
    ):
        campaign = _Campaign(StackControl(stack), work, clocks=clocks, disk=disk, size=size)
        return asyncio.run(campaign.run(seed, schedule))


class _Campaign:
    def __init__(
        self,
        stack: StackControl,
        work: list[Arrival],
        *,
        clocks: Clocks,
        disk: SmallDisk,
        size: Size,
    ) -> None:
        self._stack = stack
        self._work = work
        self._clocks = clocks
        self._disk = disk
        self._size = size

    async def run(self, seed: int, schedule: Sequence[Fault]) -> Report:
        tap = Tap(self._stack.management_url, DESTINATIONS)
        await tap.open()
        async with feeder(self._stack.url("operator"), self._stack.url("dms")) as feed:
            await feed.store_templates()
            progress = Progress(self._stack.databases)
            injector = Injector(
                self._stack, tap=tap, clocks=self._clocks, disk=self._disk, now=progress.now
            )
            try:
                async with asyncio.timeout(self._size.work_limit), asyncio.TaskGroup() as group:
                    group.create_task(injector.run(schedule))
                    group.create_task(feed.bring_in_all(self._work))
                    group.create_task(progress.watch(len(self._work)))
            except TimeoutError:
                pass  # what is missing is for the checker to say
            worked = progress.now()
        await _insist(tap.close)
        state, findings = await self._look()
        struck = sorted(injector.struck, key=lambda one: one.began)
        return Report(
            seed=seed,
            struck=struck,
            recoveries=recoveries(struck, progress),
            stall=progress.longest_stall(),
            work_seconds=worked,
            rest_seconds=progress.now() - worked,
            jobs=jobs_in(self._work),
            feeder_repeats=feed.repeats,
            outcomes=dict(Counter(row["outcome"] for row in state.rows("wms", "attempts"))),
            errors=dict(Counter(_errors(state))),
            beside=dict(begun_beside(state.rows("wms", "attempts"))),
            restarts=await self._stack.ask(do="restarts"),
            findings=findings,
        )

    async def _look(self) -> tuple[Snapshot, list[Finding]]:
        expectation = [arrival.expected for arrival in self._work]
        url = self._stack.management_url
        return await settle(
            self._stack.databases,
            lambda: count_messages(url),
            expectation,
            marker=MARKER,
            seconds=self._size.rest_limit,
        )


def _errors(state: Snapshot) -> Iterator[str]:
    """Of the attempts that failed."""
    for row in state.rows("wms", "attempts"):
        if row["error_class"] is not None:
            yield row["error_class"]


@contextmanager
def small_disk(folder: Path, size: Size) -> Iterator[SmallDisk]:
    disk = SmallDisk(folder, megabytes=size.disk_megabytes)
    try:
        yield disk
    finally:
        disk.close()


@contextmanager
def stack_with_clocks(folder: Path, clocks: Clocks, size: Size) -> Iterator[RunningStack]:
    """The stack in ``folder/stack``, every service under a clock that can be set."""
    compose = write_compose(
        folder / "compose", {service: clocks.environment(service) for service in SERVICES}
    )
    settings = ",".join(f"{name}={value}" for name, value in ENVIRONMENT.items())
    replicas = ",".join(f"{name}={count}" for name, count in REPLICAS.items())
    options = [
        "--compose",
        str(compose),
        "--replicas",
        replicas,
        "--slots",
        str(size.slots),
        "--set",
        settings,
    ]
    with open(folder / "stack.log", "w") as output:
        try:
            with started(folder / "stack", options, output=output) as stack:
                yield stack
        finally:
            clocks.sweep()


async def _insist(call: Callable[[], Awaitable[None]], seconds: float = 60.0) -> None:
    """The broker may be starting at that moment."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            await call()
        except httpx.HTTPError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.5)
        else:
            return
