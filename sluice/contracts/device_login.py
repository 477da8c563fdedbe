"""Signing a command in by a browser on any machine: the device authorization grant (RFC 8628)."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.base import Contract
from sluice.contracts.people import Claimed, Label, NewTokenSecret
from sluice.contracts.secrets import SecretContract, ToldSecret

#: Letters of a code that a person compares: no vowels, so no words (RFC 8628, 6.1).
CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
#: Letters of a code; it is shown in two halves.
CODE_LENGTH = 8


class NewDeviceLogin(Contract):
    """``label``: what the token is for, which is shown to whoever is asked."""

    label: Label


class DeviceLogin(SecretContract):
    """``device_code``: what the command asks with, and tells nobody. ``user_code``: what it shows,
    and the page as well. ``verification_uri``: the page, by the address that was asked.
    ``expires_in``, ``interval``: s, until it ends, and from one question to the next."""

    device_code: ToldSecret
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: Annotated[int, Field(ge=1)]
    interval: Annotated[int, Field(ge=1)]


class DeviceQuestion(SecretContract):
    """Asks whether somebody has allowed it meanwhile."""

    device_code: Claimed


class DeviceAnswer(SecretContract):
    """``given``: the token, which is told this once; None: nobody has said anything yet."""

    given: NewTokenSecret | None = None


def shown_code(letters: str) -> str:
    """In two halves."""
    return f"{letters[: CODE_LENGTH // 2]}-{letters[CODE_LENGTH // 2 :]}"


def code_letters(typed: str) -> str | None:
    """Of a code as somebody types it: in small letters, with spaces, without the dash. None: it is
    none."""
    letters = "".join(char for char in typed.upper() if char not in " -\u2010\u2013")
    whole = len(letters) == CODE_LENGTH and set(letters) <= set(CODE_LETTERS)
    return letters if whole else None
