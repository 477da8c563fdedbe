"""Responses where a path, or the method at a path, is not served."""

from collections.abc import Iterable
from itertools import pairwise
from urllib.parse import unquote_to_bytes

from starlette.routing import Match, Mount
from starlette.types import Scope

from sluice.contracts.common.problems import PROBLEM_TYPE, Problem
from sluice.text.visible_text import quoted

#: The number of characters of a path that the response repeats.
_SHOWN = 200
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
#: The singular of a part of a path, where it is irregular.
_NOUNS = {"datasets": "data set", "unmatched": "unmatched data set", "people": "person"}
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
    return _not_found(f"there is no {_noun_of(kind)} {quoted(given)}: give {wanted}")


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
    return _not_found(f"there is no {_noun_of(kind)} {quoted(given)}: names have no '/'")


def _noun_of(kind: str) -> str:
    return _NOUNS.get(kind) or kind.removesuffix("s").replace("-", " ")


def _not_found(detail: str) -> Problem:
    return Problem(type=PROBLEM_TYPE + "not-found", title="Not found", status=404, detail=detail)
