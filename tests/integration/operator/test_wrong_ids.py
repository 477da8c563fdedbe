"""An address or command with a malformed id names the object that does not exist."""

import pytest

from tests.integration.operator.conftest import Operator
from tests.integration.operator.sluice_command import Command

MALFORMED_IDS = [
    ("GET", "/api/v1/chains/nope", "there is no chain 'nope': give its uid, 32 hexadecimal"),
    ("POST", "/api/v1/chains/nope/cancel", "there is no chain 'nope'"),
    ("GET", "/api/v1/datasets/nope/files", "there is no data set 'nope'"),
    ("GET", "/api/v1/tasks/1/jobs", "there is no task '1'"),
    ("DELETE", "/api/v1/pilots/nope", "there is no pilot 'nope'"),
    ("GET", "/api/v1/jobs/nope", "there is no job 'nope': give its number"),
    ("GET", "/api/v1/chains/%1b%E2%80%AE", r"there is no chain '\x1b\u202e'"),
    ("GET", "/api/v1/templates/a%2Fb", "there is no template 'a/b': names have no '/'"),
    ("POST", "/api/v1/storages/a%2Fb/disable", "there is no storage 'a/b'"),
    ("POST", "/api/v1/templates/spd%2Fdisable", "there is no template 'spd/disable'"),
    ("PATCH", "/api/v1/people/a%2Fb", "there is no person 'a/b'"),
    ("GET", "/api/v1/runs/a%2Fb", "there is no run 'a/b'"),
    ("GET", "/templates/a%2Fb", "there is no template &#39;a/b&#39;"),
    ("GET", "/chains/nope", "there is no chain &#39;nope&#39;"),
    ("GET", "/api/v1/nope/nope", "nothing is served at /api/v1/nope/nope"),
]


async def test_malformed_id_in_an_address_is_reported(
    operator: Operator, subtests: pytest.Subtests
) -> None:
    for method, path, expected in MALFORMED_IDS:
        with subtests.test(method=method, path=path):
            answer = await operator.http.request(method, path)
            detail = answer.json()["detail"] if path.startswith("/api") else answer.text
            assert answer.status_code == 404
            assert expected in detail


NAMES_WITH_A_SLASH: list[tuple[tuple[str, ...], str]] = [
    (("template", "show", "a/b"), "template"),
    (("template", "disable", "a/share"), "template"),
    (("template", "delete", "a/b", "--yes"), "template"),
    (("secret", "remove", "a/b", "--yes"), "secret"),
    (("user", "disable", "a/b"), "person"),
    (("tool", "show", "a/b"), "tool"),
]


async def test_name_with_a_slash_is_reported_as_unknown(
    sluice: Command, subtests: pytest.Subtests
) -> None:
    for command, noun in NAMES_WITH_A_SLASH:
        with subtests.test(command=command):
            assert f"there is no {noun} " in await sluice(*command, code=1)


EMPTY_NAMES: list[tuple[tuple[str, ...], str]] = [
    (("logs", ""), "error: an empty text names nothing: give a chain, a task"),
    (("chain", "show", ""), "error: there is no chain ''; give the name, the uid"),
    (("dataset", "show", ""), "error: there is no data set ''; give the name, the uid"),
    (("pilot", "show", ""), "error: there is no pilot ''; give the name, the uid"),
    (("template", "show", ""), "error: an empty text names no template: give the"),
    (("template", "disable", ""), "error: an empty text names no template: give the"),
]


async def test_empty_name_is_reported_in_words(sluice: Command, subtests: pytest.Subtests) -> None:
    for command, message in EMPTY_NAMES:
        with subtests.test(command=command):
            assert (await sluice(*command, code=1)).startswith(message)
