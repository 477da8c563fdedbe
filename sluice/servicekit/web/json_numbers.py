"""Rejection of JSON bodies with numbers outside JSON: NaN, Infinity and overflows (1e400).

Python's parser would accept such a number, and its serializer would write null. A parameter would
silently take its default.
"""

import json
import re
from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sluice.contracts.common.bounds import describe_number
from sluice.contracts.common.problems import Finding, Unprocessable

#: Most bodies do not match and are not parsed here.
_SUSPICIOUS = re.compile(rb"NaN|Infinity|[0-9][eE]\+?[0-9]{3}|[0-9]{200}")
#: Media types of bodies that are not JSON.
_OTHER_MEDIA = ("multipart/", "application/octet-stream", "application/x-www-form-urlencoded")
#: The maximum number of places that the error names.
_MAX_FINDINGS = 20


class InvalidJson(Unprocessable):
    """The body contains a number that JSON does not know, or is in another encoding."""

    slug, title = "invalid-request", "Malformed request"


class JsonNumbers:
    """ASGI middleware that rejects such bodies. ``refuse`` makes the response to an error."""

    def __init__(self, app: ASGIApp, refuse: Callable[[Exception], ASGIApp]) -> None:
        self._app = app
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read and check a JSON body, then pass the request on."""
        if scope["type"] != "http" or not _may_be_json(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        messages = [await receive()]
        while messages[-1].get("more_body", False):
            messages.append(await receive())
        body = b"".join(message.get("body", b"") for message in messages)
        if _is_in_another_encoding(body):
            error = InvalidJson("the body is not in UTF-8, which JSON has to be in (RFC 8259)")
            await self._refuse(error)(scope, receive, send)
            return
        if _SUSPICIOUS.search(body) and (findings := _findings(body)):
            detail = "; ".join(finding.message for finding in findings)
            await self._refuse(InvalidJson(detail, findings=findings))(scope, receive, send)
            return

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)


def _may_be_json(headers: Headers) -> bool:
    media = headers.get("content-type", "").lower()
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    return has_body and not media.startswith(_OTHER_MEDIA)


def _is_in_another_encoding(body: bytes) -> bool:
    """Return whether the body is JSON in UTF-16 or UTF-32, which Python's parser accepts."""
    if json.detect_encoding(body) in {"utf-8", "utf-8-sig"}:
        return False
    try:
        json.loads(body)
    except RecursionError:
        return True
    except ValueError:
        return False
    return True


def _findings(body: bytes) -> list[Finding]:
    """Return the places of such numbers, or nothing if the body is not JSON.

    Invalid JSON is reported elsewhere.
    """
    try:
        numbers = _find_non_finite(json.loads(body), "body")
        return [
            Finding(
                message=f"{place}: JSON has no number such as {describe_number(number)}:"
                " give a text"
            )
            for _, (place, number) in zip(range(_MAX_FINDINGS), numbers, strict=False)
        ]
    except (ValueError, RecursionError):
        return []


def _find_non_finite(value: Any, place: str) -> Iterator[tuple[str, float]]:
    match value:
        case float() if not isfinite(value):
            yield place, value
        case dict():
            for key, inner in value.items():
                yield from _find_non_finite(inner, f"{place}.{key}")
        case list():
            for number, inner in enumerate(value):
                yield from _find_non_finite(inner, f"{place}.{number}")
