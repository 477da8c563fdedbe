"""Tests that hostile YAML and hostile archives are refused with a reason and not stored, wherever
templates and tools are accepted."""

import io
import json
import zipfile
from collections.abc import Iterator

import httpx
import pytest

from tests.attacks.known_values import WORDCOUNT
from tests.attacks.whole_system import WholeSystem, open_whole_system
from tests.servers.postgres import PostgresServer
from tests.unit.cwl.errors.hostile_texts import HOSTILE

ROUTES = ["templates", "run-templates", "templates/compare", "templates/check", "tools"]
TABLES_WITHOUT_NEW_ROWS = ["templates", "run-templates", "tools"]


@pytest.fixture(scope="module")
def system(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WholeSystem]:
    with open_whole_system(postgres_server, tmp_path_factory.mktemp("whole") / "home") as system:
        yield system


def _post_content(
    system: WholeSystem, route: str, content: bytes, media: str = "application/json"
) -> httpx.Response:
    query = "" if media == "application/json" else "?name=theirs"
    url = f"http://operator/api/v1/{route}{query}"
    request = httpx.Request("POST", url, content=content, headers={"content-type": media})
    return system.send_request("submitter", "wfms.operator", request)


def _list_objects(system: WholeSystem) -> list[object]:
    lists = (
        system.request_json("wfms.operator", "GET", f"/api/v1/{kind}")
        for kind in TABLES_WITHOUT_NEW_ROWS
    )
    return [item for listed in lists for part in listed.values() if part for item in part]


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_is_refused_on_each_route(system: WholeSystem, case: str) -> None:
    text, _ = HOSTILE[case]
    for route in ROUTES:
        named = {} if route == "templates/check" else {"name": "theirs"}
        answer = _post_content(system, route, json.dumps(named | {"cwl": text}).encode())
        if (route, answer.status_code) == ("templates/check", 200):
            assert answer.json()["plan"] is None
            assert answer.json()["findings"]
        else:
            assert answer.status_code in {413, 422}, (route, answer.text[:300])
    assert _list_objects(system) == []


def _pack_zip(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


ZIPS = {
    "much in little": {"workflow.cwl": b"0" * 100_000_000},
    "out of its folder": {"../../workflow.cwl": WORDCOUNT.encode()},
    "from the root": {"/etc/cron.d/workflow.cwl": WORDCOUNT.encode()},
    "too many": {"w.cwl": WORDCOUNT.encode()} | {f"{number}.txt": b"" for number in range(600)},
    "an archive in it": {"workflow.cwl": _pack_zip({"workflow.cwl": b"x" * 1000})},
}


@pytest.mark.parametrize("case", ZIPS)
def test_hostile_archive_is_refused_on_each_route(system: WholeSystem, case: str) -> None:
    for route in ("templates", "run-templates", "templates/compare"):
        answer = _post_content(system, route, _pack_zip(ZIPS[case]), "application/zip")
        assert answer.status_code == 422, (route, answer.text[:300])
        assert answer.json()["findings"]
    assert _list_objects(system) == []
