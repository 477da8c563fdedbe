"""At the place of each value of a request, what is meant to be taken for SQL, for a path, for a
command, or is more than anything can hold: it is a value, or refused. Nothing is run of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from scripts.docs.services import SERVICES
from tests.attacks.documented import operations_of
from tests.attacks.hostile_values import CANARY, Asked, hostile_requests, plain_requests
from tests.attacks.whole_contents import Known, filled
from tests.attacks.whole_system import CALLERS, WholeSystem, whole_system
from tests.draws import examples
from tests.servers.postgres import PostgresServer

#: Who is asked for, from whoever may most.
MIGHTY = ["admin", *reversed(CALLERS)]
#: What the database says of a statement that somebody else has a part in.
TAKEN_FOR_SQL = ("syntax error", "unterminated quoted", "there is no parameter", CANARY)


@dataclass
class Scene:
    system: WholeSystem
    known: Known
    server: PostgresServer

    def log(self) -> str:
        return (self.server.folder / "data" / "log").read_text(errors="replace")

    def shape(self) -> dict[str, Any]:
        """Of each database: its tables with their columns, who may use it, and the canary's."""
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
        known = filled(system)
        for service in system.databases:
            system.rows(service, f"CREATE TABLE {CANARY} (song text)")
            system.rows(service, f"INSERT INTO {CANARY} VALUES ('sings')")  # noqa: S608 - a name
        yield Scene(system, known, postgres_server)


def _services() -> list[Any]:
    return [
        pytest.param(
            service,
            marks=pytest.mark.xdist_group(f"hostile-values-{service == 'wfms.operator'}"),
        )
        for service in SERVICES
    ]


@pytest.mark.parametrize("service", _services())
def test_a_value_is_a_value_whatever_it_looks_like(scene: Scene, service: str) -> None:
    shape, begun = scene.shape(), len(scene.log())
    wrong = [
        finding
        for operation in operations_of(service)
        for finding in _wrong_answers(scene, service, operation)
    ]

    assert wrong == []
    assert scene.shape() == shape
    assert [
        line for line in scene.log()[begun:].splitlines() if any(x in line for x in TAKEN_FOR_SQL)
    ] == []


def _wrong_answers(scene: Scene, service: str, operation: Any) -> Iterator[str]:
    """Requests that are answered as nothing is."""

    def ask(caller: str, asked: Asked) -> httpx.Response:
        return scene.system.ask(caller, service, asked.request(service))

    tried = plain_requests(operation, scene.known, 5)
    may = next((one for one in MIGHTY if ask(one, tried[0]).status_code not in {401, 403}), "admin")
    plain = next((each for each in tried if ask(may, each).is_success), tried[0])
    for asked in hostile_requests(operation, plain, all_=examples(1) > 1):
        answer = ask(may, asked)
        known = answer.status_code < 500 or b"not-available" in answer.content
        if not known or "x-injected" in answer.headers:
            yield f"{answer.status_code} {operation.label} {str(asked)[:600]}"


@pytest.mark.xdist_group("hostile-values-True")
@pytest.mark.parametrize(
    ("name", "status", "told"),
    [
        ("%2e%2e", 422, "nothing can have the name '..'"),
        ("%10%7f", 404, repr("\x10\x7f")),
        ("%2541", 404, "'%41'"),
        ("a%3fforce=true", 404, "'a?force=true'"),
    ],
)
def test_a_name_that_is_passed_on_leads_nowhere_else(
    scene: Scene, name: str, status: int, told: str
) -> None:
    request = httpx.Request("POST", f"http://x/api/v1/storages/{name}/enable")
    answer = scene.system.ask("admin", "wfms.operator", request)
    assert (answer.status_code, told in answer.json()["detail"]) == (status, True), answer.text
