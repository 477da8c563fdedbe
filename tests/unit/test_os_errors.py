"""Messages about errors of the operating system, without Python's details."""

import json
from pathlib import Path

import httpx
import pytest
import typer
import yaml

from sluice.cli.errors import plain_errors
from sluice.text.os_errors import os_error_sentence, reason_of


def test_message_names_the_file_and_the_reason(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(FileNotFoundError) as refused:
        missing.read_text()
    assert os_error_sentence(refused.value) == f"{missing}: No such file or directory"
    assert reason_of(refused.value) == "No such file or directory"
    assert reason_of(ValueError("seven")) == "seven"


def test_errors_of_libraries_become_one_line() -> None:
    for read, message_start in (
        (lambda: json.loads('{"a":'), "line 1, column 6: expecting value"),
        (lambda: yaml.safe_load("a: [b\nc: d"), "line 2, column 2: expected ',' or ']'"),
        (b"a\xff".decode, "byte 2 is not valid UTF-8"),
        (lambda: json.loads("[" * 100_000), "it has lists and objects too deep in others"),
        (lambda: httpx.URL("http://a:b"), "Invalid port: 'b'"),
    ):
        with pytest.raises(Exception) as refused:  # noqa: PT011 - of any library
            read()
        assert reason_of(refused.value).startswith(message_start)
        assert reason_of(refused.value).isprintable()


async def test_refused_connection_is_reported_without_error_number() -> None:
    async with httpx.AsyncClient(trust_env=False) as http:
        with pytest.raises(httpx.ConnectError) as refused:
            await http.get("http://127.0.0.1:9")
    assert reason_of(refused.value) == "Connection refused"


def test_message_about_a_move_names_both_files(tmp_path: Path) -> None:
    with pytest.raises(OSError) as refused:  # noqa: PT011 - the kind depends on the file system
        (tmp_path / "a\udcff").rename(tmp_path / "b")
    message = os_error_sentence(refused.value)
    assert message.endswith(": No such file or directory")
    assert f" to {tmp_path / 'b'}: " in message
    assert "a\\xff" in message, "a name that is not UTF-8 must be printable"


def test_commands_show_no_error_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        plain_errors((tmp_path / "missing").read_text)
    stderr = "".join(capsys.readouterr().err.split())
    assert stderr.endswith("missing:Nosuchfileordirectory")
    assert "Errno" not in stderr


def test_exceptions_that_cause_each_other_end_the_search() -> None:
    first, second = httpx.ReadError("the connection ended"), httpx.ReadError("closed")
    first.__cause__, second.__cause__ = second, first
    assert reason_of(first) == "the connection ended"
