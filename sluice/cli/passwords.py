"""Passwords that the command asks for, at a terminal or from standard input; never as arguments,
which others see."""

import getpass
import sys

from pydantic import SecretStr

from sluice.contracts.problems import Unprocessable

#: Characters that are read of one.
_MOST = 4096


def asked_password(what: str = "password", *, twice: bool = False) -> SecretStr:
    """``twice``: as a new one. From standard input it is the next line. Raises ``Unprocessable``
    for two that differ, and for none."""
    if not sys.stdin.isatty():
        given = sys.stdin.readline(_MOST).rstrip("\n")
    else:
        given = getpass.getpass(f"{what}: ")
        if twice and given != getpass.getpass("again: "):
            raise Unprocessable("these were two different passwords: nothing was changed")
    if not given:
        raise Unprocessable(f"no {what} was given, at the terminal or from standard input")
    return SecretStr(given)
