"""Tests that slow requests of a few people do not block the operator service for others."""

import asyncio
from collections.abc import Sequence

import asyncpg
from httpx import AsyncClient

from sluice.contracts.access.access import Role
from sluice.servicekit.access.principal import Person
from tests.integration.operator.conftest import Operator
from tests.waiting import eventually


async def test_requests_of_one_person_leave_threads_for_others(operator: Operator) -> None:
    """The requests wait as long as the check of a template."""
    anna, bo = create_people(operator, 2)
    slow_requests = [(anna, "GET")] * 12
    assert await collect_statuses_of_slow_requests(
        operator, slow_requests, at_once=2, meanwhile=bo
    ) == {200}


async def test_requests_of_two_people_leave_threads_for_others(operator: Operator) -> None:
    anna, bo, carl = create_people(operator, 3)
    slow_requests = [(anna, "GET"), (bo, "GET")] * 12
    assert await collect_statuses_of_slow_requests(
        operator, slow_requests, at_once=4, meanwhile=carl
    ) == {200}


async def test_requests_of_all_people_leave_threads_for_administrators(operator: Operator) -> None:
    """Services and people who sign in are not limited either."""
    slow_requests = [(person, "GET") for person in create_people(operator, 12)]
    admin = operator.links.http_of(Person("root", Role.ADMIN), "wfms.operator")
    assert await collect_statuses_of_slow_requests(
        operator, slow_requests, at_once=6, meanwhile=admin
    ) == {200}


async def test_checks_of_many_people_leave_threads_for_others(operator: Operator) -> None:
    *many, other = create_people(operator, 13)
    slow_requests = [(person, "POST") for person in many]
    assert await collect_statuses_of_slow_requests(
        operator, slow_requests, at_once=4, meanwhile=other
    ) == {422}


def create_people(operator: Operator, number: int) -> list[AsyncClient]:
    """Return clients of as many people."""
    operator.links.apps["wfms.operator"] = operator.service.app
    return [
        operator.links.http_of(Person(f"person-{n}", Role.SUBMITTER), "wfms.operator")
        for n in range(number)
    ]


async def collect_statuses_of_slow_requests(
    operator: Operator,
    slow_requests: Sequence[tuple[AsyncClient, str]],
    *,
    at_once: int,
    meanwhile: AsyncClient,
) -> set[int]:
    """Have requests of these people and methods wait for a table, and another one answered.

    Args:
        operator: The service that answers with eight threads.
        slow_requests: Who asks, and by which method.
        at_once: Threads that these requests take.
        meanwhile: Who is answered while they wait.
    """
    lock = await asyncpg.connect(operator.database_url)
    transaction = lock.transaction()
    await transaction.start()
    await lock.execute("LOCK TABLE templates")

    async def count_waiting_requests() -> int:
        return int(await lock.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"))

    async def do_all_wait() -> bool:
        return await count_waiting_requests() >= at_once

    bad = {"name": "bad", "cwl": "no workflow"}
    requests = [
        asyncio.create_task(
            person.request(method, "/api/v1/templates", json=bad if method == "POST" else None)
        )
        for person, method in slow_requests
    ]
    try:
        await eventually(do_all_wait)
        other = asyncio.create_task(meanwhile.get("/api/v1/pilots"))
        await eventually(other.done)
        assert (await other).status_code == 200
        assert await count_waiting_requests() == at_once
        assert not any(request.done() for request in requests)
    finally:
        await transaction.rollback()
        await lock.close()
    return {answer.status_code for answer in await asyncio.gather(*requests)}
