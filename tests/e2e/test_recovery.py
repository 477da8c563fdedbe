"""Times until work continues after a pilot or a service was killed.

The test prints the times; the bounds are generous.
"""

import os
import signal
import time
from functools import partial
from pathlib import Path

import asyncpg
import httpx
import pytest

from sluice.contracts.common.states import JobState, PilotState
from tests.e2e.stack_system import StackSystem
from tests.e2e.systems import LEASE
from tests.faults.schedule import SERVICES
from tests.faults.stack import StackControl
from tests.faults.workload.feeding import open_feeder
from tests.faults.workload.work import make_digest_arrival
from tests.waiting import eventually

pytestmark = [
    pytest.mark.xdist_group("e2e-stack"),
    pytest.mark.long("tests/e2e/packs/test_spd.py kills services and pilots of the same stack"),
]

#: Seconds until a killed service must be ready, including the restart's pause on a busy machine.
_RESTART_SECONDS = 30.0
#: Seconds until a lost pilot's jobs must run elsewhere: leases have to end, and new jobs come
#: first.
RECOVERY_SECONDS = 90.0

_HELD = """
    SELECT id, attempt FROM jobs
    WHERE state = ANY($2) AND pilot = (SELECT uid FROM pilots WHERE name = $1 AND state = $3)
"""
_NOW = """
    SELECT id, attempt, state, extract(epoch FROM leased_at - $2)::float AS after
    FROM jobs WHERE id = ANY($1::bigint[])
"""


@pytest.mark.parametrize("service", SERVICES)
async def test_killed_service_is_ready_again(stack: StackSystem, service: str) -> None:
    """The killed process is running again, and its health check passes."""
    control = StackControl(stack.stack)
    before = await control.process(f"{service}/0")
    os.kill(before["pid"], signal.SIGKILL)
    killed = time.monotonic()

    async def is_back() -> bool:
        process = await control.process(f"{service}/0")
        return process["pid"] not in {None, before["pid"]} and process["ready"]

    await eventually(
        is_back, what=f"{service} is ready again", seconds=_RESTART_SECONDS, period=0.05
    )
    print(f"{service} is at work again {time.monotonic() - killed:.1f} s after SIGKILL")
    async with httpx.AsyncClient(base_url=control.url(service)) as http:
        assert (await http.get("/readyz")).status_code == 200


@pytest.mark.parametrize(
    "end_signal", [signal.SIGKILL, signal.SIGSTOP], ids=["killed and started again", "silent"]
)
async def test_jobs_of_a_lost_pilot_run_elsewhere(
    stack: StackSystem, tmp_path: Path, end_signal: signal.Signals
) -> None:
    """A restarted pilot reports ended jobs and returns the others. A silent pilot loses its jobs
    when their leases end.
    """
    control = StackControl(stack.stack)
    arrival = make_digest_arrival(
        tmp_path, f"pilots-{end_signal}", files=12, at=0.0, seed=1, pause=1.0
    )
    async with open_feeder(control.url("operator"), control.url("dms")) as feed:
        await feed.store_templates()
        await feed.register_arrival(arrival)
    wms = await asyncpg.connect(control.databases["wms"])
    try:
        victim = await control.process("pilot/0")
        is_held_by_pilot = partial(
            wms.fetch,
            _HELD,
            victim["name"],
            [JobState.LEASED, JobState.RUNNING],
            PilotState.ACTIVE,
        )
        await eventually(is_held_by_pilot, what="the pilot has a job", seconds=60)
        os.kill(victim["pid"], signal.SIGSTOP)
        attempts = {row["id"]: row["attempt"] for row in await is_held_by_pilot()}
        assert attempts, "the pilot has jobs at the time of the fault"
        if end_signal is signal.SIGKILL:
            os.kill(victim["pid"], end_signal)
        await _await_settled(wms, attempts, end_signal)
    finally:
        await wms.close()
        if end_signal is signal.SIGSTOP:
            os.kill(victim["pid"], signal.SIGCONT)


async def _await_settled(
    wms: asyncpg.Connection, attempts: dict[int, int], end_signal: signal.Signals
) -> None:
    """Require that every job of the pilot has another lease or was reported after the restart."""
    loss_time = await wms.fetchval("SELECT now()")
    lease_times: list[float] = []
    reported: list[int] = []

    async def are_settled() -> bool:
        rows = await wms.fetch(_NOW, list(attempts), loss_time)
        lease_times[:] = [row["after"] for row in rows if row["attempt"] > attempts[row["id"]]]
        reported[:] = [
            row["id"]
            for row in rows
            if row["attempt"] == attempts[row["id"]] and row["state"] == JobState.FINISHED
        ]
        return len(lease_times) + len(reported) == len(attempts)

    await eventually(
        are_settled,
        what=lambda: f"another lease for {len(attempts)} jobs, not {len(lease_times)}",
        seconds=RECOVERY_SECONDS,
        period=0.1,
    )
    assert lease_times or end_signal is signal.SIGKILL, "some jobs must get another lease"
    last = max(lease_times, default=0.0)
    print(
        f"leases of {LEASE:.0f} s, {end_signal.name}: {len(lease_times)} jobs moved within"
        f" {last:.1f} s, {len(reported)} reported"
    )
