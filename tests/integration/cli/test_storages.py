"""`sluice storage` with a real DMS on a real port."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dms.settings import DmsSettings
from dms.wiring import build
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.open import open_transport
from sluice.servicekit.web.server import HttpServer
from tests.callers import allow_everybody
from tests.conftest import DatabaseFactory
from tests.servers import commands


class Command:
    def __init__(self, dms_url: str) -> None:
        self._dms_url = dms_url

    async def __call__(self, *arguments: str, code: int = 0) -> str:
        """Return the output of the command."""
        # These commands do not use the operator's address.
        environment = {
            "SLUICE_URL": "http://127.0.0.1:9",
            "SLUICE_DMS_URL": self._dms_url,
            "PATH": "/usr/bin",
        }
        done = await asyncio.to_thread(commands.run, "sluice", *arguments, env=environment)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr


@pytest.fixture
async def sluice(make_database: DatabaseFactory, tmp_path: Path) -> AsyncIterator[Command]:
    transport = open_transport(await make_database(), sluice_topology())
    url = await make_database()
    settings = DmsSettings(
        database_url=url, broker_url="postgresql://unused", storage_roots=str(tmp_path)
    )
    service = build(settings, links=ProcessLinks(), transport=transport)
    server = HttpServer(allow_everybody(service.app), host="127.0.0.1", port=0)
    async with running(transport, service, server):
        yield Command(f"http://127.0.0.1:{server.port}")


async def test_init_creates_a_storage_of_each_type_and_can_be_repeated(
    sluice: Command, tmp_path: Path
) -> None:
    first = json.loads(await sluice("storage", "init", str(tmp_path / "data"), "--json"))
    assert {(one["name"], one["type"]) for one in first} == {
        (kind, kind) for kind in ("input", "intermediate", "output", "logs")
    }
    assert {one["url"] for one in first} == {
        f"file://{folder}" for folder in (tmp_path / "data").iterdir()
    }
    again = json.loads(await sluice("storage", "init", str(tmp_path / "data"), "--json"))
    assert [one["id"] for one in again] == [one["id"] for one in first]


async def test_init_with_names_registered_elsewhere_is_refused(
    sluice: Command, tmp_path: Path
) -> None:
    await sluice("storage", "init", str(tmp_path / "one"))
    output = await sluice("storage", "init", str(tmp_path / "two"), code=1)
    assert "registered already, differently" in output


async def test_storage_is_added_and_listed(sluice: Command, tmp_path: Path) -> None:
    assert "no storage" in await sluice("storage", "list")
    await sluice(
        "storage",
        "add",
        "archive",
        "output",
        f"file://{tmp_path}",
        "--capacity",
        "5000000",
        "--read-only",
    )
    [stored] = json.loads(await sluice("storage", "list", "--type", "output", "--json"))
    assert (stored["name"], stored["capacity"], stored["read_only"]) == ("archive", 5_000_000, True)
    assert "5.0 MB" in await sluice("storage", "list")
    assert json.loads(await sluice("storage", "list", "--type", "input", "--json")) == []


async def test_forbidden_folder_is_refused_with_the_setting_that_allows_it(
    sluice: Command, tmp_path: Path
) -> None:
    output = await sluice("storage", "add", "etc", "input", "file:///etc", code=1)
    assert (
        f"is outside the folders in which storages may be (file://{tmp_path}): add its folder, or"
        " one above it" in output
    )
    assert "SLUICE_DMS_STORAGE_ROOTS" in output
    await sluice("storage", "init", str(tmp_path / "data"))
    assert "are one folder, or one is in the other" in await sluice(
        "storage", "add", "all", "logs", f"file://{tmp_path}", code=1
    )


async def test_state_of_a_storage_is_changed(sluice: Command, tmp_path: Path) -> None:
    await sluice("storage", "init", str(tmp_path / "data"))
    output = await sluice("storage", "disable", "logs")
    assert "logs: disabled" in output
    assert "no other storage of type logs is enabled" in output
    listed = json.loads(await sluice("storage", "list", "--json"))
    assert {one["name"]: one["enabled"] for one in listed} == {
        "input": True,
        "intermediate": True,
        "output": True,
        "logs": False,
    }
    [line] = [
        line for line in (await sluice("storage", "list")).splitlines() if line.startswith("logs")
    ]
    assert line.split()[:3] == ["logs", "logs", "disabled"]
    assert "logs: enabled" in await sluice("storage", "enable", "logs")
    assert "disabled" not in await sluice("storage", "list")
    (tmp_path / "more").mkdir()
    await sluice("storage", "add", "more", "logs", f"file://{tmp_path / 'more'}")
    assert await sluice("storage", "disable", "more") == "more: disabled\n", (
        "another storage of the type is enabled"
    )
    assert "no storage is called 'other'" in await sluice("storage", "disable", "other", code=1)


async def test_unusable_storage_is_listed_with_its_reason(sluice: Command, tmp_path: Path) -> None:
    await sluice("storage", "init", str(tmp_path / "data"))
    (tmp_path / "data" / "logs").rmdir()
    (tmp_path / "more").mkdir()
    await sluice(
        "storage", "add", "more", "logs", f"file://{tmp_path / 'more'}"
    )  # The new storage is compared with the others.
    output = await sluice("storage", "list")
    assert (
        "logs gets no new data sets: its folder is not there: is its file system mounted?" in output
    )
    [line] = [line for line in output.splitlines() if line.startswith("logs  ")]
    assert "refused" in line


async def test_copies_are_limited_by_the_capacity_of_a_storage(
    sluice: Command, tmp_path: Path
) -> None:
    (tmp_path / "buffer").mkdir()
    await sluice(
        "storage", "add", "buffer", "input", f"file://{tmp_path / 'buffer'}", "--capacity", "1000"
    )
    (tmp_path / "data").write_bytes(bytes(700))
    assert "1 file, 700 B" in await sluice("dataset", "register", "first", str(tmp_path / "data"))
    refused = await sluice("dataset", "register", "second", str(tmp_path / "data"), code=1)
    assert "no input storage has space for these 700 bytes: buffer has 300 left of 1000" in refused
    assert [path.name for path in (tmp_path / "buffer").iterdir()] == ["first"], (
        "nothing was copied"
    )
    (tmp_path / "data").write_bytes(bytes(300))
    await sluice("dataset", "register", "second", str(tmp_path / "data"))  # The name is still free.
    assert "buffer has 0 left" in await sluice(
        "dataset", "register", "third", str(tmp_path / "data"), code=1
    )


async def test_watermarks_are_set_shown_and_removed(sluice: Command, tmp_path: Path) -> None:
    (tmp_path / "buffer").mkdir()
    add = (
        "storage",
        "add",
        "buffer",
        "input",
        f"file://{tmp_path / 'buffer'}",
        "--capacity",
        "1000",
    )
    await sluice(*add, "--low", "60%", "--high", "80%")
    assert "60% to 80%" in await sluice("storage", "list")
    assert "buffer: 10% to 900 B" in await sluice(
        "storage", "marks", "buffer", "--low", "10%", "--high", "900"
    )
    refused = await sluice("storage", "marks", "buffer", "--low", "90%", "--high", "80%", code=1)
    assert "the wrong way round" in refused
    for marks in (
        "",
        "--low 1",
        "--low 1% --high 120%",
        "--low few --high 9",
        "--none --low 1% --high 2%",
    ):
        await sluice("storage", "marks", "buffer", *marks.split(), code=2)
    assert "buffer: no watermarks" in await sluice("storage", "marks", "buffer", "--none")
    assert "%" not in await sluice("storage", "list")
