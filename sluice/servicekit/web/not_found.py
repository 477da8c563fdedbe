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
from sluice.contracts.common.wording import A_UID, singular_noun, validation_sentence
from sluice.text.visible_text import quoted

#: The number of characters of a path that the response repeats.
_MAX_PATH = 200
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_LIST = "/api/openapi.json lists what there is"


def methods_at(scope: Scope) -> set[str]:
    """Return the methods by which the application serves a path.

    Mounted applications answer for themselves and are ignored.
    """
    routes = [route for route in scope["app"].routes if not isinstance(route, Mount)]
    scopes = {method: {**scope, "method": method} for method in _METHODS}
    return {
        method
        for method in _METHODS
        if any(route.matches(scopes[method])[0] is Match.FULL for route in routes)
    }


def unserved_problem(method: str, path: str, allowed_methods: Iterable[str] = ()) -> Problem:
    """Return the problem of a path that is not served by a method.

    ``allowed_methods`` are the methods by which it is served; without any, the path does not exist.
    """
    shortened_path = path if len(path) <= _MAX_PATH else f"{path[:_MAX_PATH]}…"
    if methods := ", ".join(sorted(allowed_methods)):
        detail = f"{method} is not possible at {shortened_path}: use {methods} ({_LIST})"
        return Problem(
            type=PROBLEM_TYPE + "wrong-method",
            title="Method not allowed",
            status=405,
            detail=detail,
        )
    return _not_found(f"nothing is served at {shortened_path}: look at the address ({_LIST})")


def malformed_id_problem(kind: str, value: str, description: str) -> Problem:
    """Return the problem of a path with a malformed id.

    Args:
        kind: The part of the path before the id, as in ``chains``.
        value: The malformed id.
        description: A description of an id of this kind.
    """
    return _not_found(f"there is no {singular_noun(kind)} {quoted(value)}: give {description}")


def describe_wrong_id(route: str, error: ErrorDetails) -> str:
    """Return a sentence about a part of a path that is not valid.

    Args:
        route: The path of the route, as in ``/api/v1/jobs/{job}``.
        error: The error about the part.
    """
    before = re.search(rf"([^/]+)/\{{{re.escape(str(error['loc'][-1]))}[:}}]", route)
    noun = singular_noun(before[1]) if before else str(error["loc"][-1])
    return f"there is no {noun} {quoted(error['input'])}: {_describe_valid_id(error)}"


def _describe_valid_id(error: ErrorDetails) -> str:
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
    return re.sub("^(Input|String) should", "it should", validation_sentence(error))


def name_with_slash(scope: Scope) -> Problem | None:
    """Return the problem of a path with an escaped slash, which no name has, or None.

    Servers unescape paths before they find a route. Without this check, ``templates/a%2Fdisable``
    would disable the template ``a``.
    """
    raw = bytes(scope.get("raw_path") or b"")
    if b"%2f" not in raw.lower():
        return None
    parts = [unquote_to_bytes(part).decode(errors="surrogateescape") for part in raw.split(b"/")]
    kind, name = next(pair for pair in pairwise(parts) if "/" in pair[1])
    return _not_found(f"there is no {singular_noun(kind)} {quoted(name)}: names have no '/'")


def _not_found(detail: str) -> Problem:
    return Problem(type=PROBLEM_TYPE + "not-found", title="Not found", status=404, detail=detail)
