"""Tests that work that PostgreSQL ends because of a deadlock is repeated and that no traceback is
logged."""

import asyncio
import errno

import asyncpg
import httpx
import pytest
from fastapi import APIRouter
from structlog.testing import capture_logs

from sluice.clients.base import ServiceClient
from sluice.contracts.common.base import Contract
from sluice.servicekit.database import to_not_available
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.loop import Loop
from sluice.servicekit.web.http import Health, create_app
from tests.callers import open_to_all


class Answer(Contract):
    times: int


class Victim:
    """Work that PostgreSQL ends the first ``failures`` times."""

    def __init__(self, failures: int) -> None:
        self.times = 0
        self.failures = failures

    def change(self) -> Answer:
        self.times += 1
        if self.times <= self.failures:
            raise asyncpg.DeadlockDetectedError("deadlock detected")
        return Answer(times=self.times)


async def test_client_repeats_a_request_that_met_a_deadlock() -> None:
    victim, router = Victim(2), APIRouter()

    @router.post("/change")
    async def change() -> Answer:
        return victim.change()

    app = create_app("victim", [open_to_all(router)], health=Health({}), metrics=ServiceMetrics())
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://victim"
    ) as http:
        with capture_logs() as logs:
            assert (await ServiceClient(http).call("POST", "/change", answer=Answer)).times == 3
    assert [(line["event"], line["log_level"], "exc_info" in line) for line in logs] == [
        ("http.unavailable", "warning", False)
    ] * 2


def test_error_names_the_full_file_system_of_the_database() -> None:
    assert (
        "has no space left"
        in to_not_available(asyncpg.DiskFullError("could not extend file")).detail
    )


async def test_loop_tries_again_after_a_deadlock() -> None:
    victim, done, metrics = Victim(1), asyncio.Event(), ServiceMetrics()

    async def tick() -> bool:
        victim.change()
        done.set()
        return False

    with capture_logs() as logs:
        async with running(Loop("victim", tick, period=60.0, metrics=metrics)):
            await asyncio.wait_for(done.wait(), 30.0)
    assert [(line["event"], line["log_level"]) for line in logs] == [("loop.waiting", "warning")]
    assert metrics.loop_failures.labels("victim")._value.get() == 0


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "/srv/a"), "on its machine"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed"), "the database does"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), "the database does"),
        (OSError("Multiple exceptions: [Errno 111], [Errno 111]"), "the database does"),
    ],
    ids=["file", "disk", "refused", "no socket", "addresses"],
)
def test_only_connection_errors_are_attributed_to_the_database(error: OSError, cause: str) -> None:
    detail = to_not_available(error).detail
    assert cause in detail
    assert "/srv" not in detail
