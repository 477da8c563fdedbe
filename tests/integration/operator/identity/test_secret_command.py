"""`sluice secret …` with a real operator service on a real port."""

import asyncio
import os
import pty
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from sluice.contracts.access.secrets import MAX_SECRET
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.server import HttpServer
from tests.callers import allow_everybody
from tests.integration.operator.conftest import run_operator
from tests.integration.operator.sluice_command import Command

VALUE = "hunter2-hunter2"


@pytest.fixture
async def sluice(database_url: str) -> AsyncIterator[Command]:
    key = Fernet.generate_key().decode()
    async with run_operator(database_url, encryption_keys=key) as operator:
        server = HttpServer(allow_everybody(operator.service.app), host="127.0.0.1", port=0)
        async with running(server):
            yield Command(f"http://127.0.0.1:{server.port}")


async def test_commands_set_list_and_remove_secrets(sluice: Command, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text(f"{VALUE}\n")
    output = await sluice(
        "secret", "set", "places-api", "--for", "places*", "--for", "cities", answered=VALUE
    )
    assert output == "places-api, version 1, for places*, cities\n"
    output = await sluice("secret", "set", "places-api", "--file", str(tmp_path / "key.pem"))
    assert "places-api, version 2, for places*, cities\n" in output
    assert "note: the value ends with a newline" in output
    listed = await sluice("secret", "list")
    assert [line.split()[:2] for line in listed.splitlines()[1:]] == [
        ["places-api", "2"],
        ["places-api", "1"],
    ]
    assert VALUE not in listed + await sluice("secret", "list", "--json")
    would = await sluice("secret", "remove", "places-api", "--dry-run")
    assert would.startswith("would remove secret places-api: ")
    output = await sluice("secret", "remove", "places-app", "--dry-run", code=1)
    assert "there is no secret 'places-app' (did you mean 'places-api'?)" in output
    output = await sluice("secret", "remove", "places-api", "--version", "7", "--dry-run", code=1)
    assert "'places-api' has no version 7" in output
    assert await sluice("secret", "remove", "places-api", "--version", "1", "--yes") == (
        "places-api, version 1 removed\n"
    )
    assert await sluice("secret", "remove", "places-api", "--yes") == "places-api removed\n"
    assert await sluice("secret", "list") == "no secret\n"


async def test_errors_do_not_show_the_value_of_a_secret(sluice: Command, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    for arguments, answered, sentence in (
        (["places-api"], VALUE, "give the templates that may use it"),
        (["places-api", "--for", "*"], "", "the value of a secret is empty"),
        (["places-api", "--for", "*"], f"{VALUE}\0", "has a NUL character"),
        (["places-api", "--for", "*"], VALUE * MAX_SECRET, f"may have {MAX_SECRET} bytes"),
        (["places-api", "--for", "*", "--file", str(binary)], "", "not valid UTF-8"),
        (
            ["places-api", "--for", "*", "--file", str(tmp_path / "none")],
            "",
            "the value cannot be read from --file",
        ),
        (["places-api", "--for", "a/b"], VALUE, "'a/b' has '/'"),
        (["a b", "--for", "*"], VALUE, "'a b' has ' '"),
    ):
        output = await sluice("secret", "set", *arguments, answered=answered, code=1)
        assert sentence in output
        assert VALUE[:8] not in output


async def test_terminal_asks_for_the_value_and_does_not_echo_it(sluice: Command) -> None:
    assert await _type_lines(sluice, VALUE, VALUE) == (0, "value: again: ")
    code, output = await _type_lines(sluice, VALUE, "other")
    assert (code, output) == (
        1,
        "value: again: error: the two values differ: nothing was stored",
    )


async def _type_lines(sluice: Command, *lines: str) -> tuple[int, str]:
    """Return the exit status and all that the terminal shows, in one line."""
    ours, terminal = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "sluice.cli",
        "secret",
        "set",
        "places-api",
        "--for",
        "*",
        env={**os.environ, "SLUICE_URL": sluice.url, "TERM": "dumb"},
        stdin=terminal,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    shown, loop = b"", asyncio.get_running_loop()
    screen = asyncio.StreamReader()
    with os.fdopen(ours, "rb", buffering=0) as file:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(screen), file)
        async with asyncio.timeout(30):
            for line in lines:
                shown += await screen.readuntil(b": ")
                os.write(ours, f"{line}\n".encode())
            with suppress(OSError):  # The process has ended.
                while piece := await screen.read(1000):
                    shown += piece
            code = await process.wait()
    return code, shown.decode().replace("\r\n", "").strip("\n")
