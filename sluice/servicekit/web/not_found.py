"""Responses where a path, or the method at a path, is not served."""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any
from urllib.parse import unquote_to_bytes

from pydantic_core import ErrorDetails
from starlette.routing import Match, Mount
from starlette.types import Scope

from sluice.contracts.common.problems import PROBLEM_TYPE, Problem
from sluice.contracts.common.wording import A_UID, noun_of, sentence_of
from sluice.text.visible_text import quoted

#: The number of characters of a path that the response repeats.
_SHOWN = 200
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_LIST = "/api/openapi.json lists what there is"


def methods_at(scope: Scope) -> set[str]:
    """Return the methods by which the application serves a path.

    Mounted applications answer for themselves and are ignored.
    """
    routes = [route for route in scope["app"].routes if not isinstance(route, Mount)]
    asked = {method: {**scope, "method": method} for method in _METHODS}
    return {
        method
        for method in _METHODS
        if any(route.matches(asked[method])[0] is Match.FULL for route in routes)
    }


def unserved(method: str, path: str, allowed: Iterable[str] = ()) -> Problem:
    """Return the problem of a path that is not served by a method.

    ``allowed`` are the methods by which it is served; without any, the path does not exist.
    """
    shown = path if len(path) <= _SHOWN else f"{path[:_SHOWN]}…"
    if methods := ", ".join(sorted(allowed)):
        detail = f"{method} is not possible at {shown}: use {methods} ({_LIST})"
        return Problem(
            type=PROBLEM_TYPE + "wrong-method",
            title="Method not allowed",
            status=405,
            detail=detail,
        )
    return _not_found(f"nothing is served at {shown}: look at the address ({_LIST})")


def not_an_id(kind: str, given: str, wanted: str) -> Problem:
    """Return the problem of a path with a malformed id.

    Args:
        kind: The part of the path before the id, as in ``chains``.
        given: The malformed id.
        wanted: A description of an id of this kind.
    """
    return _not_found(f"there is no {noun_of(kind)} {quoted(given)}: give {wanted}")


def wrong_id_text(route: str, error: ErrorDetails) -> str:
    """Return a sentence about a part of a path that is not valid.

    Args:
        route: The path of the route, as in ``/api/v1/jobs/{job}``.
        error: The error about the part.
    """
    before = re.search(rf"([^/]+)/\{{{re.escape(str(error['loc'][-1]))}[:}}]", route)
    noun = noun_of(before[1]) if before else str(error["loc"][-1])
    return f"there is no {noun} {quoted(error['input'])}: {_wanted(error)}"


def _wanted(error: ErrorDetails) -> str:
    limits: Mapping[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "greater_than_equal":
            return f"give a number of {limits['ge']} or more"
        case "less_than_equal":
            return f"give a number of {limits['le']} or less"
        case "int_parsing" | "int_parsing_size":
            return "give its number"
        case "uuid_parsing":
            return f"give its {A_UID}"
    return re.sub("^(Input|String) should", "it should", sentence_of(error))


def name_with_slash(scope: Scope) -> Problem | None:
    """Return the problem of a path with an escaped slash, which no name has, or None.

    Servers unescape paths before they find a route. Without this check, ``templates/a%2Fdisable``
    would disable the template ``a``.
    """
    raw = bytes(scope.get("raw_path") or b"")
    if b"%2f" not in raw.lower():
        return None
    parts = [unquote_to_bytes(part).decode(errors="surrogateescape") for part in raw.split(b"/")]
    kind, given = next(pair for pair in pairwise(parts) if "/" in pair[1])
    return _not_found(f"there is no {noun_of(kind)} {quoted(given)}: names have no '/'")


def _not_found(detail: str) -> Problem:
    return Problem(type=PROBLEM_TYPE + "not-found", title="Not found", status=404, detail=detail)
