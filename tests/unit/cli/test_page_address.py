"""The token in the address of the web page."""

import os
import sys

import pytest

from sluice.cli.commands.system.up import page_address
from sluice.clientkit.output import out
from sluice.network.credentials import TOKEN

URL = "http://127.0.0.1:9"


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE"])
def test_token_is_not_printed_into_a_coloured_file(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(TOKEN, "secret-word")
    monkeypatch.setenv(variable, "1")
    assert out.is_terminal, "rich must take the output for a terminal"
    assert page_address(URL) == URL


def test_token_is_printed_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "secret-word")
    leader, terminal = os.openpty()
    with os.fdopen(terminal, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        assert page_address(URL) == f"{URL}/?token=secret-word"
    os.close(leader)
