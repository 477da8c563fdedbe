"""Signing a command in by a browser on any machine: the device authorization grant (RFC 8628)."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.access.people import Claimed, Label, NewTokenSecret
from sluice.contracts.access.secrets import OneTimeSecret, SecretContract
from sluice.contracts.common.base import Contract

#: Letters of a code that a person compares: no vowels, so no words (RFC 8628, 6.1).
CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
#: Letters of a code; it is shown in two halves.
CODE_LENGTH = 8


class NewDeviceLogin(Contract):
    """A request to start a sign-in of a command.

    Attributes:
        label: The name of the token. The person who decides sees it.
    """

    label: Label


class DeviceLogin(SecretContract):
    """A sign-in of a command that waits for a person's decision.

    Attributes:
        device_code: The secret with which the command asks for the decision.
        user_code: The code that the command and the page show.
        verification_uri: The page where the person decides.
        verification_uri_complete: The same page with the code.
        expires_in: Seconds until the sign-in ends.
        interval: Seconds between two requests for the decision.
    """

    device_code: OneTimeSecret
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: Annotated[int, Field(ge=1)]
    interval: Annotated[int, Field(ge=1)]


class DeviceQuestion(SecretContract):
    """A request for the decision on a sign-in."""

    device_code: Claimed


class DeviceAnswer(SecretContract):
    """The decision so far.

    Attributes:
        given: The token, which is shown only once. None means that nobody has decided yet.
    """

    given: NewTokenSecret | None = None


def format_code(letters: str) -> str:
    """Return the code in two halves with a dash between them."""
    return f"{letters[: CODE_LENGTH // 2]}-{letters[CODE_LENGTH // 2 :]}"


def parse_code(text: str) -> str | None:
    """Return the letters of a typed code, or None if it is not a code.

    Lower case, spaces and a missing or other dash are accepted.
    """
    letters = "".join(char for char in text.upper() if char not in " -\u2010\u2013")
    is_valid = len(letters) == CODE_LENGTH and set(letters) <= set(CODE_LETTERS)
    return letters if is_valid else None
