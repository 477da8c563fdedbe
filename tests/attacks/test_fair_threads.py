"""Slow requests of one person keep nobody else waiting for the operator service."""

import asyncio
from collections.abc import Sequence

import asyncpg
from httpx import AsyncClient

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
    slow = [(anna, "GET")] * 12
    assert await statuses_of_slow_requests(operator, slow, meanwhile=bo) == {200}


async def test_checks_of_many_people_leave_threads_for_others(operator: Operator) -> None:
    operator.links.apps["wfms.operator"] = operator.service.app
    *many, other = (
        operator.links.http_of(Person(f"person-{number}", Role.SUBMITTER), "wfms.operator")
        for number in range(13)
    )
    slow = [(person, "POST") for person in many]
    assert await statuses_of_slow_requests(operator, slow, meanwhile=other) == {422}


async def statuses_of_slow_requests(
    operator: Operator, slow: Sequence[tuple[AsyncClient, str]], *, meanwhile: AsyncClient
) -> set[int]:
    """Have requests of these people and methods wait for a table, and another one answered."""
    lock = await asyncpg.connect(operator.database_url)
    held_up = lock.transaction()
    await held_up.start()
    await lock.execute("LOCK TABLE templates")

    async def waiting() -> bool:
        return bool(await lock.fetchval("SELECT count(*) >= 4 FROM pg_locks WHERE NOT granted"))

    bad = {"name": "bad", "cwl": "no workflow"}
    requests = [
        asyncio.create_task(
            person.request(method, "/api/v1/templates", json=bad if method == "POST" else None)
        )
        for person, method in slow
    ]
    try:
        await eventually(waiting)
        other = asyncio.create_task(meanwhile.get("/api/v1/pilots"))
        await eventually(other.done)
        assert (await other).status_code == 200
        assert not any(request.done() for request in requests)
    finally:
        await held_up.rollback()
        await lock.close()
    return {answer.status_code for answer in await asyncio.gather(*requests)}
