"""What a server says where nothing is served at an address, or not by the method that was used."""

from collections.abc import Iterable

from starlette.routing import Match, Mount
from starlette.types import Scope

from sluice.contracts.problems import PROBLEM_TYPE, Problem
from sluice.visible_text import quoted

#: Characters of an address that are repeated to who sent it.
_SHOWN = 200
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
#: What a part of an address is the plural of, where it is no plain one.
_NOUNS = {"datasets": "data set", "unmatched": "unmatched data set"}
_LIST = "/api/openapi.json lists what there is"


def methods_at(scope: Scope) -> set[str]:
    """Those by which the application itself serves this address: what is mounted in it answers for
    itself."""
    routes = [route for route in scope["app"].routes if not isinstance(route, Mount)]
    asked = {method: {**scope, "method": method} for method in _METHODS}
    return {
        method
        for method in _METHODS
        if any(route.matches(asked[method])[0] is Match.FULL for route in routes)
    }


def unserved(method: str, path: str, allowed: Iterable[str] = ()) -> Problem:
    """``allowed``: methods by which the address is served; none: it is not at all."""
    shown = path if len(path) <= _SHOWN else f"{path[:_SHOWN]}…"
    if methods := ", ".join(sorted(allowed)):
        detail = f"{method} is not possible at {shown}: use {methods} ({_LIST})"
        return Problem(
            type=PROBLEM_TYPE + "wrong-method",
            title="Not possible by this method",
            status=405,
            detail=detail,
        )
    return _not_found(f"nothing is served at {shown}: look at the address ({_LIST})")


def not_an_id(kind: str, given: str, wanted: str) -> Problem:
    """Return what is said of an address that holds something else where an id belongs.

    Args:
        kind: The part of the address before it, as in ``chains``.
        given: What the address holds.
        wanted: What an id of this kind is, in words.
    """
    noun = _NOUNS.get(kind) or kind.removesuffix("s").replace("-", " ")
    return _not_found(f"there is no {noun} {quoted(given)}: give {wanted}")


def _not_found(detail: str) -> Problem:
    return Problem(type=PROBLEM_TYPE + "not-found", title="Not found", status=404, detail=detail)
