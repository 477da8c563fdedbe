"""How quickly work goes on elsewhere: a pilot that is killed, and a service. The figures are
printed; the bounds are generous."""

import asyncio
import os
import signal
import time
from pathlib import Path

import asyncpg
import httpx
import pytest

from tests.e2e.stack_system import StackSystem
from tests.e2e.systems import LEASE
from tests.faults.feeding import feeder
from tests.faults.schedule import SERVICES
from tests.faults.stack import StackControl
from tests.faults.work import digest_arrival

pytestmark = pytest.mark.xdist_group("e2e-stack")

#: Seconds that a killed service may take from its end to work again, with the pause of the restart
#: and a busy machine.
_BACK = 30.0
#: Seconds for a lost pilot's jobs to run elsewhere: their leases have to end, and jobs that nobody
#: had yet come first.
PATIENCE = 90.0

_HELD = """
    SELECT id, attempt FROM jobs
    WHERE state IN ('leased', 'running')
      AND pilot = (SELECT uid FROM pilots WHERE name = $1 AND state = 'active')"""
_NOW = """
    SELECT id, attempt, state, extract(epoch FROM leased_at - $2)::float AS after
    FROM jobs
    WHERE id = ANY($1::bigint[])"""


@pytest.mark.parametrize("service", SERVICES)
async def test_a_killed_service_is_back(stack: StackSystem, service: str) -> None:
    """The process that was killed runs again, and its health check passes."""
    control = StackControl(stack.stack)
    before = await control.process(f"{service}/0")
    os.kill(before["pid"], signal.SIGKILL)
    killed = time.monotonic()
    while True:
        process = await control.process(f"{service}/0")
        if process["pid"] not in {None, before["pid"]} and process["ready"]:
            break
        assert time.monotonic() < killed + _BACK, f"{service} is not back after {_BACK} s"
        await asyncio.sleep(0.05)
    print(f"{service} is at work again {time.monotonic() - killed:.1f} s after SIGKILL")
    async with httpx.AsyncClient(base_url=control.url(service)) as http:
        assert (await http.get("/readyz")).status_code == 200


@pytest.mark.parametrize(
    "blow", [signal.SIGKILL, signal.SIGSTOP], ids=["killed and started again", "silent"]
)
async def test_jobs_of_a_lost_pilot_run_elsewhere(
    stack: StackSystem, tmp_path: Path, blow: signal.Signals
) -> None:
    """One that starts again reports what had ended and gives back the rest; a silent one loses it
    when its leases end."""
    control = StackControl(stack.stack)
    arrival = digest_arrival(tmp_path, f"pilots-{blow}", files=12, at=0.0, seed=1, pause=1.0)
    async with feeder(control.url("operator"), control.url("dms")) as feed:
        await feed.store_templates()
        await feed.bring_in(arrival)
    wms = await asyncpg.connect(control.databases["wms"])
    try:
        victim = await control.process("pilot/0")
        await _eventually(wms, _HELD, victim["name"])
        os.kill(victim["pid"], signal.SIGSTOP)
        held = {row["id"]: row["attempt"] for row in await wms.fetch(_HELD, victim["name"])}
        assert held, "it holds jobs when it is struck"
        if blow is signal.SIGKILL:
            os.kill(victim["pid"], blow)
        await _await_settled(wms, held, blow)
    finally:
        await wms.close()
        if blow is signal.SIGSTOP:
            os.kill(victim["pid"], signal.SIGCONT)


async def _await_settled(
    wms: asyncpg.Connection, held: dict[int, int], blow: signal.Signals
) -> None:
    """Every job that the pilot held has another lease, or was reported by its next start."""
    lost = await wms.fetchval("SELECT now()")
    deadline = time.monotonic() + PATIENCE
    while True:
        rows = await wms.fetch(_NOW, list(held), lost)
        again = [row["after"] for row in rows if row["attempt"] > held[row["id"]]]
        reported = [
            row["id"]
            for row in rows
            if row["attempt"] == held[row["id"]] and row["state"] == "finished"
        ]
        if len(again) + len(reported) == len(held):
            break
        assert time.monotonic() < deadline, (
            f"{len(again)} of {len(held)} jobs were given away within {PATIENCE} s"
        )
        await asyncio.sleep(0.1)
    assert again or blow is signal.SIGKILL, "a report may have been on its way, not all of them"
    last = max(again, default=0.0)
    print(
        f"leases of {LEASE:.0f} s, {blow.name}: {len(again)} jobs had another after {last:.1f} s,"
        f" {len(reported)} reported"
    )


async def _eventually(
    connection: asyncpg.Connection, query: str, *arguments: object
) -> list[asyncpg.Record]:
    deadline = time.monotonic() + 60
    while not (rows := await connection.fetch(query, *arguments)):
        assert time.monotonic() < deadline, "the pilot got no job within a minute"
        await asyncio.sleep(0.05)
    return rows
