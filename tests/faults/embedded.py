"""A small run of an embedded system, whose good final state the checks are tested on."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from sluice.contracts.access.services import SERVICES, CallingService, short_name
from tests.e2e.systems import LiveSystem, run_live_system
from tests.faults.checker.checks import Finding
from tests.faults.checker.expectation import Expectation
from tests.faults.checker.load import count_stored_messages
from tests.faults.checker.settle import wait_for_final_state
from tests.faults.checker.snapshot import Snapshot
from tests.faults.workload.annotators import QUICK_ANSWERS, open_annotator_group
from tests.faults.workload.feeding import open_feeder
from tests.faults.workload.work import MARKER, Plan, make_work
from tests.waiting import eventually

_DATABASES = {
    short_name(service): service.database
    for service in SERVICES
    if service is not CallingService.OPERATOR
}
_ENVIRONMENT = {"SLUICE_DMS_SWEEP_AGAIN_SECONDS": "3", **QUICK_ANSWERS}
_PEOPLE = 3


@dataclass(frozen=True, slots=True)
class EndState:
    """``storages`` is the folder of the storages, which exists as long as the state is used."""

    state: Snapshot
    expectation: Expectation
    findings: list[Finding]
    storages: Path


@contextmanager
def run_small_campaign(folder: Path) -> Iterator[EndState]:
    """Process data sets of 20 and 5 files and two detector runs, and kill a pilot meanwhile.

    The second run has a damaged frame.
    """
    work = make_work(
        folder, Plan(files=20, stream=1, stream_files=5, frames=10, seconds=1.0), seed=1
    )
    expectation = [arrival.expected for arrival in work]
    with run_live_system("--pilots", "2", "--slots", "2", environment=_ENVIRONMENT) as system:

        async def run_campaign() -> tuple[Snapshot, list[Finding]]:
            async with (
                open_feeder(system.url, f"{system.url}/services/dms") as feed,
                open_annotator_group(system.url, system.url, work) as people,
                asyncio.TaskGroup() as group,
            ):
                await feed.store_templates()
                await feed.register_all(work)
                group.create_task(people.answer(_PEOPLE))
                await people.leave_when_answered()
                ended = partial(feed.have_all_chains_ended, len(work))
                await eventually(ended, what="the end of all chains", seconds=240)
                await feed.acknowledge_failures()
            assert people.violations == []
            system.kill_a_pilot(0)
            queues = _get_database_url(system, "transport")
            databases = {
                service: _get_database_url(system, name) for service, name in _DATABASES.items()
            }
            return await wait_for_final_state(
                databases,
                lambda: count_stored_messages(queues),
                expectation,
                marker=MARKER,
                seconds=240,
            )

        state, findings = asyncio.run(run_campaign())
        yield EndState(state, expectation, findings, system.home / "storages")


def _get_database_url(system: LiveSystem, name: str) -> str:
    socket = (system.home / "database" / "postmaster.pid").read_text().splitlines()[4]
    return f"postgresql://postgres:@/{name}?host={quote(socket)}"
