"""One run of the suite: work, faults, rest, and the check of the final state."""

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from sluice.clientkit.connection import client
from sluice.clients.operator import OperatorClient
from sluice.contracts.common.states import AttemptOutcome
from stack.running_stack import RunningStack, run_stack
from tests.e2e.systems import LEASE, NO_CONTAINERS, QUICK_LEASES
from tests.faults.broker import MessageCopies
from tests.faults.checker.checks import Finding
from tests.faults.checker.load import count_messages
from tests.faults.checker.settle import wait_for_final_state
from tests.faults.checker.snapshot import Snapshot
from tests.faults.clocks import Clocks
from tests.faults.injector import Injector, PeopleTargets
from tests.faults.openid_provider import OpenIdProvider, open_browser_users, start_provider
from tests.faults.progress import Progress
from tests.faults.report import Report, compute_recoveries, count_duplicates, count_jobs_of_sites
from tests.faults.retries import repeat_call
from tests.faults.schedule import DESTINATIONS, REPLICAS, SERVICES, SITES, Fault, make_schedule
from tests.faults.script import ScriptToken, open_script
from tests.faults.sites import SiteEnvironment, Sites, get_token_file
from tests.faults.stack import StackControl, write_compose
from tests.faults.storage import SmallDisk
from tests.faults.workload.annotators import QUICK_ANSWERS, AnnotatorGroup, open_annotator_group
from tests.faults.workload.feeding import DataFeeder, open_feeder
from tests.faults.workload.work import MARKER, Arrival, Plan, count_jobs, make_work

#: Shorter than the defaults, with which a run would wait for minutes. A job may lose many pilots
#: here without being quarantined.
ENVIRONMENT = {
    **QUICK_LEASES,
    "SLUICE_WMS_MAX_NODE_LOSSES": "50",
    "SLUICE_DMS_SWEEP_AGAIN_SECONDS": "20",
    "SLUICE_DMS_MAX_BACKOFF_SECONDS": "10",
    **QUICK_ANSWERS,
    **NO_CONTAINERS,
}
#: Variables that are passed on to the pilots.
PILOT_VARIABLES = ("SLUICE_PILOT_SANDBOX", "SLUICE_PILOT_EXPRESSIONS")


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a run.

    ``work_limit`` and ``rest_limit`` are seconds until all chains have ended, and until the system
    is at rest. The disk has space for what the template's merges request.
    """

    plan: Plan
    faults: int
    spacing: float
    work_limit: float
    rest_limit: float
    slots: int = 4
    people: int = 4
    disk_megabytes: int = 2048


def run_campaign(folder: Path, size: Size, *, seed: int) -> Report:
    """Run in ``folder``, which is emptied first; raise ``OSError`` if the stack does not start."""
    schedule = make_schedule(seed, faults=size.faults, spacing=size.spacing, lease=LEASE)
    shutil.rmtree(folder, ignore_errors=True)
    work = make_work(folder / "work", size.plan, seed=seed)
    clocks = Clocks(folder / "clocks", SERVICES)
    with (
        mount_small_disk(folder / "stack" / "data", size) as disk,
        start_provider() as provider,
        start_stack(folder, clocks, size, provider=provider) as stack,
    ):
        environment = _Environment(clocks, disk, provider, folder / "sites")
        campaign = _Campaign(StackControl(stack), work, environment=environment, size=size)
        return asyncio.run(campaign.run(seed, schedule))


@dataclass(frozen=True, slots=True)
class _Environment:
    """``sites`` is the folder with the tokens of sites."""

    clocks: Clocks
    disk: SmallDisk
    provider: OpenIdProvider
    sites: Path


class _Campaign:
    def __init__(
        self,
        stack: StackControl,
        work: list[Arrival],
        *,
        environment: _Environment,
        size: Size,
    ) -> None:
        self._stack = stack
        self._work = work
        self._scene = environment
        self._size = size

    async def run(self, seed: int, schedule: Sequence[Fault]) -> Report:
        message_copies = MessageCopies(self._stack.management_url, DESTINATIONS)
        await message_copies.start_copying()
        async with (
            self._open_people() as people,
            self._open_feeder(people.script.script_token) as feed,
            self._open_annotator_group() as annotators,
        ):
            progress = Progress(self._stack.databases)
            injector = Injector(
                self._stack,
                tap=message_copies,
                clocks=self._scene.clocks,
                disk=self._scene.disk,
                people=people,
                now=progress.now,
            )
            try:
                async with asyncio.timeout(self._size.work_limit):
                    await self._run_until_complete(injector, schedule, (feed, annotators), progress)
            except TimeoutError:
                pass  # The checker reports what is missing.
            work_seconds = progress.now()
        # The broker may be starting.
        await repeat_call(message_copies.stop_copying, (httpx.HTTPError,))
        state, findings = await self._check_state()
        findings += [Finding("people who answer", what) for what in annotators.violations]
        injected = sorted(injector.injected, key=lambda one: one.began)
        return Report(
            seed=seed,
            injected=injected,
            recoveries=compute_recoveries(injected, progress),
            stall=progress.find_longest_pause(),
            work_seconds=work_seconds,
            rest_seconds=progress.now() - work_seconds,
            jobs=count_jobs(self._work),
            feeder_repeats=feed.repeats,
            outcomes=dict(Counter(row["outcome"] for row in state.rows("wms", "attempts"))),
            errors=dict(Counter(_list_error_classes(state))),
            failures=list(_list_failures(state)),
            duplicates=dict(count_duplicates(state.rows("wms", "attempts"))),
            jobs_of_sites=dict(count_jobs_of_sites(state)),
            restarts=await self._stack.send_request(do="restarts"),
            findings=findings,
        )

    async def _run_until_complete(
        self,
        injector: Injector,
        schedule: Sequence[Fault],
        annotator_group: tuple[DataFeeder, AnnotatorGroup],
        progress: Progress,
    ) -> None:
        """Run until all faults and all work have ended."""
        feed, annotators = annotator_group
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(feed.poll_results())
            group.create_task(annotators.answer(self._size.people))
            async with asyncio.TaskGroup() as ending:
                ending.create_task(injector.run(schedule))
                ending.create_task(feed.register_all(self._work))
                ending.create_task(progress.watch(len(self._work)))
            async with (
                self._open_feeder() as system
            ):  # The role of the script does not permit this.
                await system.acknowledge_failures()
            watching.cancel()
            annotators.leave()

    def _open_feeder(
        self, script_token: ScriptToken | None = None
    ) -> AbstractAsyncContextManager[DataFeeder]:
        return open_feeder(
            self._stack.url("operator"), self._stack.url("dms"), script_token=script_token
        )

    def _open_annotator_group(self) -> AbstractAsyncContextManager[AnnotatorGroup]:
        return open_annotator_group(self._stack.url("ask"), self._stack.url("operator"), self._work)

    @asynccontextmanager
    async def _open_people(self) -> AsyncIterator[PeopleTargets]:
        """Yield the people when sites, script, browser users and templates are ready."""
        url, wms_url = self._stack.url("operator"), self._stack.url("wms")
        environment = SiteEnvironment(self._scene.sites, wms_url, self._stack.databases["wms"])
        async with client(url, seconds=30) as http:
            admin = OperatorClient(http)
            sites = Sites(admin, environment)
            await sites.create_all()
            async with self._open_feeder() as feed:
                await feed.store_templates()
            places = {"operator": url, "dms": self._stack.url("dms")}
            async with (
                open_script(admin, places) as robot,
                open_browser_users(url, self._scene.provider, robot.script_token) as people,
            ):
                yield PeopleTargets(sites, robot, people)

    async def _check_state(self) -> tuple[Snapshot, list[Finding]]:
        expectation = [arrival.expected for arrival in self._work]
        url = self._stack.management_url
        return await wait_for_final_state(
            self._stack.databases,
            lambda: count_messages(url),
            expectation,
            marker=MARKER,
            seconds=self._size.rest_limit,
        )


def _list_error_classes(state: Snapshot) -> Iterator[str]:
    """Yield the error classes of failed attempts."""
    for row in state.rows("wms", "attempts"):
        if row["error_class"] is not None:
            yield row["error_class"]


def _list_failures(state: Snapshot) -> Iterator[str]:
    """Yield job, attempt and message of failed attempts."""
    for row in state.rows("wms", "attempts"):
        if row["outcome"] == AttemptOutcome.FAILED:
            yield f"job {row['job_id']}, attempt {row['attempt']}: {row['message']}"


@contextmanager
def mount_small_disk(folder: Path, size: Size) -> Iterator[SmallDisk]:
    disk = SmallDisk(folder, megabytes=size.disk_megabytes)
    try:
        yield disk
    finally:
        disk.close()


@contextmanager
def start_stack(
    folder: Path, clocks: Clocks, size: Size, *, provider: OpenIdProvider
) -> Iterator[RunningStack]:
    """Start the stack in ``folder/stack`` with settable clocks, sites and the provider."""
    environment = {service: clocks.environment(service) for service in SERVICES}
    environment["operator"] |= provider.environment
    tokens = {site: get_token_file(folder / "sites", site) for site in SITES}
    compose = write_compose(folder / "compose", environment, sites=tokens)
    variables = {name: os.environ[name] for name in PILOT_VARIABLES if name in os.environ}
    settings = ",".join(f"{name}={value}" for name, value in (ENVIRONMENT | variables).items())
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
            with run_stack(folder / "stack", options, output=output) as stack:
                yield stack
        finally:
            clocks.remove_leftover_files()
