"""Slow requests of one person keep nobody else waiting for the operator service."""

import asyncio

import asyncpg

from sluice.contracts.access import Role
from sluice.servicekit.access.principal import Person
from tests.integration.operator.conftest import Operator, operator
from tests.waiting import eventually

__all__ = ["operator"]


async def test_requests_of_one_person_leave_threads_for_others(operator: Operator) -> None:
    """However long each takes, as a check of a template does."""
    operator.links.apps["wfms.operator"] = operator.service.app
    anna, bo = (
        operator.links.http_of(Person(name, Role.SUBMITTER), "wfms.operator")
        for name in ("anna", "bo")
    )
    lock = await asyncpg.connect(operator.database_url)
    held_up = lock.transaction()
    await held_up.start()
    await lock.execute("LOCK TABLE templates")

    async def waiting() -> bool:
        return bool(await lock.fetchval("SELECT count(*) >= 4 FROM pg_locks WHERE NOT granted"))

    slow = [asyncio.create_task(anna.get("/api/v1/templates")) for _ in range(12)]
    try:
        await eventually(waiting)
        other = asyncio.create_task(bo.get("/api/v1/pilots"))
        await eventually(other.done)
        assert (await other).status_code == 200
        assert not any(task.done() for task in slow)
    finally:
        await held_up.rollback()
        await lock.close()
    assert {answer.status_code for answer in await asyncio.gather(*slow)} == {200}
