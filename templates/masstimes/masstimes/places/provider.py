"""The interface of a provider of places, and helpers to read its answers."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from masstimes.polite import Answer, PoliteClient
from masstimes.request_policy import ServerUnavailable, is_web_address
from sluice.packs.programs import CommandError
from sluice.text.visible_text import quoted

#: An address that has no scheme, such as ``www.parish.example/times``.
_HOST_NAME = re.compile(r"([\w-]+\.)+[^\W\d_]{2,}(:\d+)?([/?#]\S*)?")


class RequestKind(StrEnum):
    """The kinds of requests that a provider counts separately."""

    SEARCH = "search"
    DETAIL = "detail"


class QuotaExceeded(ServerUnavailable):
    """The provider's quota is used up for now."""


class KeyRefused(CommandError):
    """The provider does not accept the key."""

    exit_code = 77


class InvalidResponse(CommandError):
    """The answer does not follow this provider's protocol."""

    exit_code = 76


@dataclass(frozen=True, slots=True)
class Place:
    """A hit of a search, with its ``site`` if the search returns it."""

    id: str
    name: str = ""
    address: str = ""
    site: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Hits of a search, the best first. ``token`` is for the next page, empty on the last one."""

    places: tuple[Place, ...] = ()
    token: str = ""


@dataclass(frozen=True, slots=True)
class Access:
    """The address of a provider, the key, and the preferred language and region."""

    url: str
    key: str = ""
    language: str = ""
    region: str = ""

    def without_key(self, text: str) -> str:
        """Return a text of the provider for a message, cut off and without the key."""
        return (text.replace(self.key, "(the key)") if self.key else text)[:200]


class Provider(Protocol):
    """A places API.

    Its methods raise ``QuotaExceeded``, ``KeyRefused``, ``InvalidResponse``, ``RequestRefused`` and
    ``ServerUnavailable``. No message contains the key.

    Attributes:
        DEFAULT_URL: The public service.
        HAS_DETAILS: A second request for a place returns more than the search.
        NEEDS_KEY: Requests without a key are refused.
        PAUSE: Seconds between two requests that the provider asks for.
    """

    DEFAULT_URL: ClassVar[str]
    HAS_DETAILS: ClassVar[bool]
    NEEDS_KEY: ClassVar[bool]
    PAUSE: ClassVar[float]

    def __init__(self, access: Access, polite: PoliteClient) -> None: ...

    def search(self, text: str, token: str) -> Page:
        """Return a page of hits for ``text``.

        ``token`` is the one of the page before, or empty.
        """
        ...

    def detail(self, place_id: str) -> str | None:
        """Return the site of a place, or None if the provider knows none."""
        ...


def read_json(url: str, answer: Answer) -> Any:
    """Return the JSON of an answer.

    Raises:
        InvalidResponse: The answer is no JSON.
    """
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise InvalidResponse(
            f"{url}: the answer is not JSON: {quoted(answer.body[:80])}"
        ) from error


def get_objects(url: str, answer: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the list of objects ``name`` of an answer, empty if it is absent.

    Raises:
        InvalidResponse: The value is something else.
    """
    objects = answer.get(name, [])
    if not isinstance(objects, list) or not all(isinstance(each, dict) for each in objects):
        raise InvalidResponse(f"{url}: {quoted(name)} of the answer is not a list of objects")
    return objects


def get_text(answer: Mapping[str, Any], name: str) -> str:
    """Return a text of an answer, empty if there is none."""
    value = answer.get(name)
    return value if isinstance(value, str) else ""


def parse_site(value: object) -> str | None:
    """Return the address of a web page in a value, or None. A host name gets ``http://``."""
    text = value.strip() if isinstance(value, str) else ""
    site = f"http://{text}" if _HOST_NAME.fullmatch(text) else text
    return site if is_web_address(site) else None
