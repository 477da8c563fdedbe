"""Tests that hostile values (SQL, paths, commands, huge values) in each field of a request are
plain values or refused, and never executed."""

import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from sluice.contracts.access.services import SERVICES, CallingService
from tests.attacks.known_values import KnownValues, filled
from tests.attacks.requests.documented import operations_of
from tests.attacks.requests.hostile_values import (
    CANARY,
    HostileRequest,
    hostile_requests,
    plain_requests,
    requests_naming,
)
from tests.attacks.whole_system import CALLERS, WholeSystem, whole_system
from tests.draws import examples
from tests.servers.postgres import PostgresServer

#: Callers, from the most permissions to the least.
CALLERS_BY_PERMISSIONS = ["admin", *reversed(CALLERS)]
JSON = {"content-type": "application/json"}
#: Accepted statuses. A route without a body may accept an empty body.
ACCEPTED_STATUSES = {200, 204, 404, 409, 422}
#: Answers to requests without a body, which is accepted where all of its fields are optional.
OPTIONAL_STATUSES = ACCEPTED_STATUSES | {201, 202}
#: Messages of the database about a statement with injected SQL.
SQL_ERRORS = ("syntax error", "unterminated quoted", "there is no parameter", CANARY)


@dataclass
class Scene:
    system: WholeSystem
    known_values: KnownValues
    server: PostgresServer

    def log(self) -> str:
        return (self.server.folder / "data" / "log").read_text(errors="replace")

    def shape(self) -> dict[str, Any]:
        """Return the columns, the roles and the content of the canary of each database."""
        statement = (
            "SELECT table_name, column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = 'public' ORDER BY 1, 2"
        )
        return {
            service: [
                self.system.rows(service, each)
                for each in (
                    statement,
                    "SELECT rolname, rolsuper FROM pg_roles ORDER BY 1",
                    f"SELECT * FROM {CANARY}",  # noqa: S608 - a name
                )
            ]
            for service in self.system.databases
        }


@pytest.fixture(scope="module")
def scene(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    with whole_system(postgres_server, tmp_path_factory.mktemp("whole") / "home") as system:
        known_values = filled(system)
        for service in system.databases:
            system.rows(service, f"CREATE TABLE {CANARY} (song text)")
            system.rows(service, f"INSERT INTO {CANARY} VALUES ('sings')")  # noqa: S608 - a name
        yield Scene(system, known_values, postgres_server)


LONG_FORWARDED_REQUESTS = pytest.mark.long(
    "most of its requests are passed on to the services tried here"
)


def _services(passed_on: pytest.MarkDecorator | None = None) -> list[Any]:
    """Return the services as parameters. ``passed_on`` marks the operator service."""
    return [
        pytest.param(
            service,
            marks=[
                pytest.mark.xdist_group(f"hostile-values-{service is CallingService.OPERATOR}"),
                *([passed_on] if passed_on and service is CallingService.OPERATOR else []),
            ],
        )
        for service in SERVICES
    ]


@pytest.mark.hypothesis  # `make test-long` sends all values.
@pytest.mark.parametrize("service", _services(passed_on=LONG_FORWARDED_REQUESTS))
def test_hostile_values_are_neither_executed_nor_answered_with_a_server_error(
    scene: Scene, service: str
) -> None:
    shape, log_start = scene.shape(), len(scene.log())
    findings = [
        finding
        for operation in operations_of(service)
        for finding in _wrong_answers(scene, service, operation)
    ]

    assert findings == []
    assert scene.shape() == shape
    assert [
        line for line in scene.log()[log_start:].splitlines() if any(x in line for x in SQL_ERRORS)
    ] == []


def _wrong_answers(scene: Scene, service: str, operation: Any) -> Iterator[str]:
    """Yield requests with an answer that no route gives."""
    for request, answer in _answers(
        scene, service, operation, partial(hostile_requests, all_=examples(1) > 1)
    ):
        acceptable = answer.status_code < 500 or b"not-available" in answer.content
        if not acceptable or "x-injected" in answer.headers:
            yield f"{answer.status_code} {operation.label} {str(request)[:600]}"


def _answers(
    scene: Scene,
    service: str,
    operation: Any,
    make_requests: Callable[[Any, HostileRequest], Iterable[HostileRequest]],
) -> Iterator[tuple[HostileRequest, httpx.Response]]:
    """Send requests and yield them with their answers. ``make_requests`` makes the requests from an
    operation and a request that succeeds. The caller has the permission to send them."""

    def ask(caller: str, plain_request: HostileRequest) -> httpx.Response:
        return scene.system.ask(caller, service, plain_request.request(service))

    tried = plain_requests(operation, scene.known_values, 5)
    may = next(
        (one for one in CALLERS_BY_PERMISSIONS if ask(one, tried[0]).status_code not in {401, 403}),
        "admin",
    )
    plain = next((each for each in tried if ask(may, each).is_success), tried[0])
    for request in make_requests(operation, plain):
        yield request, ask(may, request)


@pytest.mark.parametrize("service", _services(passed_on=LONG_FORWARDED_REQUESTS))
def test_services_do_not_fetch_addresses_or_files_that_a_request_names(
    scene: Scene, service: str, tmp_path: Path
) -> None:
    secret, content = tmp_path / "kept.txt", "what this file has in it is nobody else's"
    secret.write_text(content)
    with socket.create_server(("127.0.0.1", 0)) as there:
        there.setblocking(False)
        port = there.getsockname()[1]
        names = [f"http://127.0.0.1:{port}/x", secret.as_uri()]
        sent_requests = [
            request
            for operation in operations_of(service)
            for request, answer in _answers(
                scene, service, operation, partial(requests_naming, names=names)
            )
            if content in answer.text
        ]
        with pytest.raises(BlockingIOError):
            there.accept()
    assert sent_requests == []


#: Malformed bodies.
BODIES = {
    "lists in lists": b"[" * 100_000 + b"]" * 100_000,
    "objects in objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a list that never ends": b"[" * 100_000,
    "a number of digits alone": b"9" * 100_000,
    "no UTF-8": b'{"name": "\xff"}',
    "nothing": b"",
    "NUL": b"\0" * 100,
    "a key twice": b'{"name": "x", "name": "y", "uid": "x", "uid": "y"}',
}


@pytest.mark.parametrize("service", _services())
def test_malformed_body_is_refused(scene: Scene, service: str) -> None:
    accepted_bodies = [
        (operation.label, name, answer.status_code)
        for operation in operations_of(service)
        if any("json" in each.media_type for each in operation.body)
        for name, content in BODIES.items()
        if (answer := _sent(scene, service, operation, content)).status_code
        not in (ACCEPTED_STATUSES if content else OPTIONAL_STATUSES)
        and not _by_link(answer)
    ]
    assert accepted_bodies == []


def _sent(scene: Scene, service: str, operation: Any, content: bytes) -> httpx.Response:
    plain = plain_requests(operation, scene.known_values, 1)[0]
    plain_request = plain.request(service)
    request = httpx.Request(plain_request.method, plain_request.url, content=content, headers=JSON)
    answers = (scene.system.ask(one, service, request) for one in CALLERS_BY_PERMISSIONS)
    # A browser without a link is refused before its body is read.
    return next(
        answer for answer in answers if answer.status_code not in {401, 403} or _by_link(answer)
    )


def _by_link(answer: httpx.Response) -> bool:
    return answer.request.url.path.startswith("/ask/") and answer.status_code == 401


@pytest.mark.xdist_group("hostile-values-True")
@pytest.mark.parametrize(
    ("name", "status", "detail"),
    [
        ("%2e%2e", 422, "'..' is not a valid name"),
        ("%10%7f", 404, repr("\x10\x7f")),
        ("%2541", 404, "'%41'"),
        ("a%3fforce=true", 404, "'a?force=true'"),
    ],
)
def test_name_that_is_forwarded_to_another_service_is_escaped(
    scene: Scene, name: str, status: int, detail: str
) -> None:
    request = httpx.Request("POST", f"http://x/api/v1/storages/{name}/enable")
    answer = scene.system.ask("admin", "wfms.operator", request)
    assert (answer.status_code, detail in answer.json()["detail"]) == (status, True), answer.text
