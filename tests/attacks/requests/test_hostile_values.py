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
from tests.attacks.known_values import KnownValues, create_known_objects
from tests.attacks.requests.documented import list_operations
from tests.attacks.requests.hostile_values import (
    CANARY,
    HostileRequest,
    make_hostile_requests,
    make_plain_requests,
    make_requests_with_names,
)
from tests.attacks.whole_system import CALLERS, WholeSystem, open_whole_system
from tests.draws import count_examples
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
class FilledSystem:
    system: WholeSystem
    known_values: KnownValues
    server: PostgresServer

    def read_log(self) -> str:
        return (self.server.folder / "data" / "log").read_text(errors="replace")

    def read_schema(self) -> dict[str, Any]:
        """Return the columns, the roles and the content of the canary of each database."""
        statement = (
            "SELECT table_name, column_name, data_type FROM information_schema.columns"
            " WHERE table_schema = 'public' ORDER BY 1, 2"
        )
        return {
            service: [
                self.system.fetch_rows(service, each)
                for each in (
                    statement,
                    "SELECT rolname, rolsuper FROM pg_roles ORDER BY 1",
                    f"SELECT * FROM {CANARY}",  # noqa: S608 - a name
                )
            ]
            for service in self.system.databases
        }


@pytest.fixture(scope="module")
def filled_system(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FilledSystem]:
    with open_whole_system(postgres_server, tmp_path_factory.mktemp("whole") / "home") as system:
        known_values = create_known_objects(system)
        for service in system.databases:
            system.fetch_rows(service, f"CREATE TABLE {CANARY} (song text)")
            system.fetch_rows(service, f"INSERT INTO {CANARY} VALUES ('sings')")  # noqa: S608 - a name
        yield FilledSystem(system, known_values, postgres_server)


LONG_FORWARDED_REQUESTS = pytest.mark.long(
    "most of its requests are passed on to the services tried here"
)


def _list_service_parameters(forwarding_marks: pytest.MarkDecorator | None = None) -> list[Any]:
    """Return the services as parameters. ``forwarding_marks`` marks the operator service."""
    return [
        pytest.param(
            service,
            marks=[
                pytest.mark.xdist_group(f"hostile-values-{service is CallingService.OPERATOR}"),
                *(
                    [forwarding_marks]
                    if forwarding_marks and service is CallingService.OPERATOR
                    else []
                ),
            ],
        )
        for service in SERVICES
    ]


@pytest.mark.hypothesis  # `make test-long` sends all values.
@pytest.mark.parametrize(
    "service", _list_service_parameters(forwarding_marks=LONG_FORWARDED_REQUESTS)
)
def test_hostile_values_are_neither_executed_nor_answered_with_a_server_error(
    filled_system: FilledSystem, service: str
) -> None:
    shape, log_start = filled_system.read_schema(), len(filled_system.read_log())
    findings = [
        finding
        for operation in list_operations(service)
        for finding in _find_wrong_answers(filled_system, service, operation)
    ]

    assert findings == []
    assert filled_system.read_schema() == shape
    assert [
        line
        for line in filled_system.read_log()[log_start:].splitlines()
        if any(x in line for x in SQL_ERRORS)
    ] == []


def _find_wrong_answers(scene: FilledSystem, service: str, operation: Any) -> Iterator[str]:
    """Yield requests with an answer that no route gives."""
    for request, answer in _send_requests(
        scene, service, operation, partial(make_hostile_requests, all_=count_examples(1) > 1)
    ):
        acceptable = answer.status_code < 500 or b"not-available" in answer.content
        if not acceptable or "x-injected" in answer.headers:
            yield f"{answer.status_code} {operation.label} {str(request)[:600]}"


def _send_requests(
    scene: FilledSystem,
    service: str,
    operation: Any,
    make_requests: Callable[[Any, HostileRequest], Iterable[HostileRequest]],
) -> Iterator[tuple[HostileRequest, httpx.Response]]:
    """Send requests and yield them with their answers. ``make_requests`` makes the requests from an
    operation and a request that succeeds. The caller has the permission to send them."""

    def send(caller: str, plain_request: HostileRequest) -> httpx.Response:
        return scene.system.send_request(caller, service, plain_request.request(service))

    tried_requests = make_plain_requests(operation, scene.known_values, 5)
    allowed_caller = next(
        (
            one
            for one in CALLERS_BY_PERMISSIONS
            if send(one, tried_requests[0]).status_code not in {401, 403}
        ),
        "admin",
    )
    plain = next(
        (each for each in tried_requests if send(allowed_caller, each).is_success),
        tried_requests[0],
    )
    for request in make_requests(operation, plain):
        yield request, send(allowed_caller, request)


@pytest.mark.parametrize(
    "service", _list_service_parameters(forwarding_marks=LONG_FORWARDED_REQUESTS)
)
def test_services_do_not_fetch_addresses_or_files_that_a_request_names(
    filled_system: FilledSystem, service: str, tmp_path: Path
) -> None:
    secret, content = tmp_path / "kept.txt", "what this file has in it is nobody else's"
    secret.write_text(content)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        names = [f"http://127.0.0.1:{port}/x", secret.as_uri()]
        sent_requests = [
            request
            for operation in list_operations(service)
            for request, answer in _send_requests(
                filled_system, service, operation, partial(make_requests_with_names, names=names)
            )
            if content in answer.text
        ]
        with pytest.raises(BlockingIOError):
            server.accept()
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


@pytest.mark.parametrize("service", _list_service_parameters())
def test_malformed_body_is_refused(filled_system: FilledSystem, service: str) -> None:
    accepted_bodies = [
        (operation.label, name, answer.status_code)
        for operation in list_operations(service)
        if any("json" in each.media_type for each in operation.body)
        for name, content in BODIES.items()
        if (answer := _send_body(filled_system, service, operation, content)).status_code
        not in (ACCEPTED_STATUSES if content else OPTIONAL_STATUSES)
        and not _asks_for_sign_in(answer)
    ]
    assert accepted_bodies == []


def _send_body(scene: FilledSystem, service: str, operation: Any, content: bytes) -> httpx.Response:
    plain = make_plain_requests(operation, scene.known_values, 1)[0]
    plain_request = plain.request(service)
    request = httpx.Request(plain_request.method, plain_request.url, content=content, headers=JSON)
    answers = (scene.system.send_request(one, service, request) for one in CALLERS_BY_PERMISSIONS)
    # A browser without a link is refused before its body is read.
    return next(
        answer
        for answer in answers
        if answer.status_code not in {401, 403} or _asks_for_sign_in(answer)
    )


def _asks_for_sign_in(answer: httpx.Response) -> bool:
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
    filled_system: FilledSystem, name: str, status: int, detail: str
) -> None:
    request = httpx.Request("POST", f"http://x/api/v1/storages/{name}/enable")
    answer = filled_system.system.send_request("admin", "wfms.operator", request)
    assert (answer.status_code, detail in answer.json()["detail"]) == (status, True), answer.text
