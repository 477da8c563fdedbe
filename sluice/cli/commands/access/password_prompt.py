"""Input of passwords, at a terminal or from standard input.

Passwords are never arguments, because other users can see those.
"""

import getpass
import sys

from pydantic import SecretStr

from sluice.contracts.common.problems import Unprocessable

#: The maximum length of a password from standard input.
_MAX_LENGTH = 4096


def prompt_password(what: str = "password", *, twice: bool = False) -> SecretStr:
    """Read a password at the terminal, or as the next line of standard input.

    Args:
        what: The name in the prompt.
        twice: Ask twice at a terminal, as for a new password.

    Raises:
        Unprocessable: The two passwords differ, or the user gave none.
    """
    if not sys.stdin.isatty():
        password = sys.stdin.readline(_MAX_LENGTH).rstrip("\n")
    else:
        password = getpass.getpass(f"{what}: ")
        if twice and password != getpass.getpass("again: "):
            raise Unprocessable("the two passwords differ: nothing was changed")
    if not password:
        raise Unprocessable(f"no {what} was given, at the terminal or from standard input")
    return SecretStr(password)
