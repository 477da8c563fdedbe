"""The audit log records people's requests and detects tampering."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest
from fastapi import APIRouter, Request, Response

from sluice.contracts.access.access import Role
from sluice.contracts.access.audit import AuditKind
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict
from sluice.servicekit.access.policy import allow
from sluice.servicekit.access.principal import Person, Principal, ServiceCaller
from sluice.servicekit.audit.chain import BATCH, chain_more, forget, verdict
from sluice.servicekit.audit.request import add_audit_facts
from sluice.servicekit.database import Database
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.web.http import Health, create_app
from tests.conftest import DatabaseFactory

ANNA = Person("anna", Role.SHIFT)
SERVICE = "wfms.chains"


class Notes:
    """A service with a table, called by people directly and through another service."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.links = ProcessLinks()
        self.links.apps[SERVICE] = create_app(
            "notes",
            [self._router()],
            health=Health({}),
            metrics=ServiceMetrics(),
            audit=database,
        )

    def _router(self) -> APIRouter:
        router = APIRouter()
        who = allow(Role.VIEWER, CallingService.OPERATOR)

        @router.post("/notes/{text}")
        @who
        async def add(text: str, request: Request) -> dict[str, Any]:
            async with self.database.transaction() as transaction:
                await transaction.connection.execute("INSERT INTO notes VALUES ($1)", text)
                if text == "refused":
                    raise Conflict("not that one")
                if text == "broken":
                    raise ValueError(text)
            return {"uid": "u1", "secret": "hidden", "inner": {"role": "shift", "token": "hidden"}}

        @router.put("/looks")
        @who
        async def look() -> dict[str, str]:
            async with self.database.transaction() as transaction:
                await transaction.connection.fetch("SELECT * FROM notes")
            add_audit_facts(found="nothing", nothing=None)
            return {}

        @router.put("/looks/{name}")
        @who
        async def look_at(name: str) -> Response:
            return Response(r'{"name": "a\u0000\ud800"}', media_type="application/json")

        @router.get("/notes")
        @who
        async def read() -> dict[str, str]:
            return {}

        return router

    async def ask(self, who: Principal, method: str, path: str) -> httpx.Response:
        async with self.links.http_of(who, SERVICE) as http:
            return await http.request(method, path)

    async def rows(self) -> list[tuple[str, str, int | None]]:
        """Return the kind, action and outcome of each row."""
        records = await self.fetch("SELECT kind, action, outcome FROM audit ORDER BY id")
        return [(row["kind"], row["action"], row["outcome"]) for row in records]

    async def fetch(self, statement: str, *values: Any) -> Any:
        async with self.database.connection() as connection:
            return await connection.fetch(statement, *values)


@pytest.fixture
async def notes(make_database: DatabaseFactory) -> AsyncIterator[Notes]:
    url = await make_database()
    await Migrator(url, "dms.db.migrations").start()
    admin = await asyncpg.connect(url)
    await admin.execute("CREATE TABLE notes (text text)")
    await admin.close()
    database = Database(url, source="notes", audited=True)
    async with running(database):
        instance = Notes(database)
        yield instance
        await instance.links.stop()


async def test_change_has_audit_events_for_its_begin_commit_and_end(notes: Notes) -> None:
    await notes.ask(ANNA, "POST", "/notes/one")
    action = "POST /notes/one"
    assert await notes.rows() == [
        ("begun", action, None),
        ("changed", action, None),
        ("ended", action, 200),
    ]
    rows = await notes.fetch("SELECT DISTINCT request, who, role FROM audit")
    assert [(row["who"], row["role"]) for row in rows] == [("anna", "shift")]
    [row] = await notes.fetch("SELECT facts FROM audit WHERE kind = 'ended'")
    assert row["facts"] == {"uid": "u1", "role": "shift"}


async def test_change_and_its_audit_event_commit_together(notes: Notes) -> None:
    for text, outcome in (("refused", 409), ("broken", 500)):
        await notes.ask(ANNA, "POST", f"/notes/{text}")
        assert (await notes.rows())[-2:] == [
            ("begun", f"POST /notes/{text}", None),
            ("ended", f"POST /notes/{text}", outcome),
        ]
    xids = await notes.fetch("SELECT 1 FROM notes")
    assert xids == []
    await notes.ask(ANNA, "POST", "/notes/one")
    same = await notes.fetch(
        "SELECT (SELECT xmin::text FROM notes) = (SELECT xmin::text FROM audit WHERE kind ="
        " 'changed') AS same"
    )
    assert same[0]["same"]


async def test_path_and_answer_with_any_characters_are_recorded(notes: Notes) -> None:
    """PostgreSQL takes neither NUL nor a lone surrogate, and a recorded action must be one line."""
    answer = await notes.ask(ANNA, "PUT", "/looks/%00%0A%FF" + "x" * 2000)
    assert answer.status_code == 200
    [(_, action, _), (_, _, outcome)] = await notes.rows()
    assert action == ("PUT /looks/\u2400\u240a\ufffd" + "x" * 2000)[:1000]
    assert outcome == 200
    [row] = await notes.fetch("SELECT facts FROM audit WHERE kind = 'ended'")
    assert row["facts"] == {"name": "a\u2400?"}


async def test_request_without_a_change_has_no_changed_event(notes: Notes) -> None:
    await notes.ask(ANNA, "GET", "/notes")
    assert await notes.rows() == []
    await notes.ask(ANNA, "PUT", "/looks")
    assert await notes.rows() == [("begun", "PUT /looks", None), ("ended", "PUT /looks", 200)]
    [row] = await notes.fetch("SELECT facts FROM audit WHERE kind = 'ended'")
    assert row["facts"] == {"found": "nothing"}


async def test_delegated_change_is_recorded_with_the_request_of_the_person(notes: Notes) -> None:
    """The service that got the person's request records its begin and end.

    Changes that a service makes for itself are not recorded.
    """
    await notes.ask(ServiceCaller(CallingService.OPERATOR), "POST", "/notes/own")
    assert await notes.rows() == []
    his = uuid4()
    await notes.ask(ServiceCaller(CallingService.OPERATOR, ANNA, his), "POST", "/notes/hers")
    assert await notes.rows() == [("changed", "POST /notes/hers", None)]
    [row] = await notes.fetch("SELECT request, who FROM audit")
    assert (row["request"], row["who"]) == (his, "anna")


async def test_request_fails_without_a_change_if_the_audit_log_cannot_be_written(
    notes: Notes,
) -> None:
    await notes.fetch("ALTER TABLE audit RENAME TO gone")
    answer = await notes.ask(ANNA, "POST", "/notes/one")
    assert answer.status_code == 500
    await notes.fetch("ALTER TABLE gone RENAME TO audit")
    assert await notes.fetch("SELECT 1 FROM notes") == []
    await notes.database.stop()
    answer = await notes.ask(ANNA, "POST", "/notes/one")
    assert answer.status_code == 503
    await notes.database.start()
    assert await notes.fetch("SELECT 1 FROM notes") == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET who = 'bert'",
        "DELETE FROM audit",
        "TRUNCATE audit",
        "UPDATE audit_chain SET number = number + 1",
        "DELETE FROM audit_chain",
        "TRUNCATE audit_chain",
        "INSERT INTO audit_forgotten VALUES (9); UPDATE audit_forgotten SET number = 1",
    ],
)
async def test_audit_rows_can_only_be_added(notes: Notes, statement: str) -> None:
    await notes.ask(ANNA, "POST", "/notes/one")
    await chain_more(notes.database)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="is added to, and nothing else"):
        async with notes.database.connection() as connection:
            await connection.execute(statement)
    assert len(await notes.rows()) == 3


async def _execute_as_administrator(notes: Notes, statement: str) -> None:
    """Execute a statement as a server administrator who bypasses the triggers."""
    admin = await asyncpg.connect(notes.database.url)
    await admin.execute("SET session_replication_role = replica")
    await admin.execute(statement)
    await admin.close()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE audit SET who = 'bert' WHERE id = 2", "row 2 is not what was chained"),
        ("UPDATE audit SET outcome = 403 WHERE id = 3", "row 3 is not what was chained"),
        (
            "UPDATE audit SET at = at - interval '1 second' WHERE id = 1",
            "row 1 is not what was chained",
        ),
        (
            """UPDATE audit SET facts = '{"uid": "u2"}' WHERE id = 3""",
            "row 3 is not what was chained",
        ),
        ("DELETE FROM audit WHERE id = 2", "row 2 is missing"),
        ("DELETE FROM audit_chain WHERE number = 2", "number 2 of the chain is missing"),
        (
            "UPDATE audit_chain SET digest = sha256('x') WHERE number = 1",
            "row 1 is not what was chained",
        ),
    ],
)
async def test_manual_change_of_an_audit_row_is_detected(
    notes: Notes, statement: str, problem: str
) -> None:
    await notes.ask(ANNA, "POST", "/notes/one")
    await notes.ask(ANNA, "POST", "/notes/two")
    assert await chain_more(notes.database) == 6
    right = await verdict(notes.database, "notes")
    assert (right.wrong, right.rows, right.unchained) == ("", 6, 0)
    await _execute_as_administrator(notes, statement)
    assert (await verdict(notes.database, "notes")).wrong == problem


async def test_late_commit_is_chained_once_it_is_visible(notes: Notes) -> None:
    """Younger rows are chained first, without waiting for the late one."""
    late = await asyncpg.connect(notes.database.url)
    transaction = late.transaction()
    await transaction.start()
    await late.execute(
        "INSERT INTO audit (request, kind, who, role, action, remote, facts) VALUES"
        " (gen_random_uuid(), 'told', 'late', '', 'x', '', '{}')"
    )
    await notes.ask(ANNA, "POST", "/notes/one")
    assert await chain_more(notes.database, all_rows=False) == 3
    before = await verdict(notes.database, "notes")
    await transaction.commit()
    await late.close()
    assert (await verdict(notes.database, "notes")).unchained == 1
    assert await chain_more(notes.database, all_rows=False) == 1
    after = await verdict(notes.database, "notes")
    assert (after.wrong, after.unchained) == ("", 0)
    assert after.head != before.head
    assert await chain_more(notes.database) == 0


async def test_concurrent_chaining_chains_each_row_once(notes: Notes) -> None:
    for number in range(5):
        await notes.ask(ANNA, "POST", f"/notes/{number}")
    chained = await asyncio.gather(*(chain_more(notes.database) for _ in range(4)))
    assert sum(chained) == 15
    assert (await verdict(notes.database, "notes")).wrong == ""


async def test_expired_audit_rows_are_deleted_and_their_digests_stay(notes: Notes) -> None:
    await notes.fetch(
        "INSERT INTO audit (at, request, kind, who, role, action, remote, facts)"
        " SELECT now() - interval '2 days', gen_random_uuid(), 'told', 'anna', '', 'signs in', '',"
        " '{}' FROM generate_series(1, 3)"
    )
    await notes.ask(ANNA, "POST", "/notes/young")
    await chain_more(notes.database)
    head = (await verdict(notes.database, "notes")).head
    await forget(notes.database, timedelta(days=3))
    assert len(await notes.rows()) == 6
    await forget(notes.database, timedelta(days=1))
    assert [action for _, action, _ in await notes.rows()] == ["POST /notes/young"] * 3
    result = await verdict(notes.database, "notes")
    assert (result.wrong, result.forgotten, result.rows, result.head) == ("", 3, 3, head)
    await _execute_as_administrator(notes, "DELETE FROM audit WHERE action LIKE '%young'")
    assert "is missing" in (await verdict(notes.database, "notes")).wrong


async def test_rows_beyond_a_batch_are_chained_in_the_next_call(notes: Notes) -> None:
    await notes.fetch(
        "INSERT INTO audit (request, kind, who, role, action, remote, facts)"
        " SELECT gen_random_uuid(), 'told', 'x', '', number::text, '', '{}'"
        " FROM generate_series(1, $1::int) AS number",
        BATCH + 10,
    )
    assert await chain_more(notes.database) == BATCH
    assert await chain_more(notes.database, all_rows=False) == 10
    assert (await verdict(notes.database, "notes")).wrong == ""
    assert AuditKind.TOLD in {kind for kind, _, _ in await notes.rows()}
