"""How programs send requests to other people's servers: identity, pauses and repeats."""

import argparse
import re
from dataclasses import dataclass

import httpx

from sluice.packs.programs import CommandError, Parser, not_negative, not_negative_number
from sluice.text.visible_text import quoted

_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")


class ServerUnavailable(CommandError):
    """The server does not answer now. It may answer later."""

    exit_code = 75


class RequestRefused(CommandError):
    """The server will not answer this request. ``status`` is the one of its answer."""

    exit_code = 69

    def __init__(self, reason: str, *, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """How a program sends requests.

    ``contact`` is an address of the person who runs it, for the operator of a server. ``pause`` is
    the time between two requests and ``max_wait`` the longest wait before a repeat, in seconds.
    ``repeats`` is the number of repeats in a row. ``delays`` is a factor for all waits, for tests.
    """

    contact: str
    pause: float = 1.0
    max_wait: float = 300.0
    repeats: int = 8
    delays: float = 1.0

    def user_agent(self, program: str) -> str:
        """Return the user agent of a program, with the contact."""
        return f"{program} (Sluice mass times; +{self.contact})"


def add_request_options(parser: Parser, *, pause: float) -> None:
    """Add the options of ``RequestPolicy``."""
    add = parser.add_argument
    add(
        "--contact",
        type=_contact,
        required=True,
        metavar="ADDRESS",
        help="Mail address or web page where the operator of the server can contact you",
    )
    add(
        "--pause",
        type=not_negative_number,
        default=pause,
        metavar="SECONDS",
        help="Minimum time between two requests in seconds (default: %(default)g)",
    )
    add(
        "--max-wait",
        type=not_negative_number,
        default=300.0,
        metavar="SECONDS",
        help="Maximum wait before a repeated request in seconds; the waits are 2, 4, 8 … up to"
        " this limit (default: %(default)g)",
    )
    add(
        "--repeats",
        type=not_negative,
        default=8,
        metavar="N",
        help="Repeat a failed request at most N times in a row (default: %(default)s)",
    )
    add(
        "--delays",
        type=not_negative_number,
        default=1.0,
        metavar="FACTOR",
        help="Multiply all waits by this factor, for tests (default: 1)",
    )


def parse_request_policy(arguments: argparse.Namespace) -> RequestPolicy:
    """Return the request policy that the options state."""
    return RequestPolicy(
        arguments.contact,
        arguments.pause,
        arguments.max_wait,
        arguments.repeats,
        arguments.delays,
    )


def web_address(text: str) -> str:
    """Parse an argument that is an address of ``http`` or ``https`` with a host."""
    if not is_web_address(text):
        raise argparse.ArgumentTypeError(
            f"{quoted(text)} is not the address of a web page (http://…)"
        )
    return text


def is_web_address(text: str) -> bool:
    """Return whether a text is an address of ``http`` or ``https`` with a host."""
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, UnicodeError, ValueError):
        return False
    return url.scheme in {"http", "https"} and bool(url.host)


def is_contact(text: str) -> bool:
    """Return whether a text is an address of mail or of a page, in ASCII."""
    is_plain = text.isascii() and text.isprintable()
    return is_plain and bool(_MAIL.fullmatch(text) or is_web_address(text))


def _contact(text: str) -> str:
    if not is_contact(text.strip()):
        raise argparse.ArgumentTypeError(
            f"{quoted(text)} is not an email address or the address of a page, in ASCII"
        )
    return text.strip()
