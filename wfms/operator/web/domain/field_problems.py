"""The form fields that findings are about.

A finding begins with its parameter, and perhaps with the field of a record: ``parameter 'sample':
field 'library.size' must be int``.
"""

import re
from collections.abc import Collection, Iterable

from sluice.contracts.common.problems import Finding
from sluice.text.visible_text import quoted

_FIELD = re.compile(r"field '(?P<place>[^']+)' ?(?P<message>.*)", re.DOTALL)


def find_place(finding: Finding, parameters: Iterable[str]) -> tuple[str, str, str] | None:
    """Return what a finding is about: the parameter, the place in its value, and the message.

    The place consists of fields and the numbers of list items, as in ``library.sizes[0]``.
    """
    for name in parameters:
        rest = finding.message.removeprefix(f"parameter {quoted(name)}")
        if rest != finding.message and rest[:1] in {" ", ":"}:
            rest = rest[1:].lstrip()
            match = _FIELD.fullmatch(rest)
            return (name, match["place"], match["message"]) if match else (name, "", rest)
    return None


def group_problems(
    findings: Iterable[Finding], parameters: Collection[str], keys: Collection[str]
) -> tuple[dict[str, list[str]], list[Finding]]:
    """Return the messages of each form field, and the findings that are about no field.

    Args:
        findings: The errors of a request.
        parameters: The names of the parameters.
        keys: The names of the form fields.
    """
    by_key: dict[str, list[str]] = {}
    others: list[Finding] = []
    for finding in findings:
        subject = find_place(finding, parameters)
        if subject is None:
            others.append(finding)
            continue
        name, place, message = subject
        key = _find_key(name, place, keys)
        if place and _to_place(name, key) != place:
            message = f"field {quoted(place)} {message}"
        by_key.setdefault(key, []).append(message)
    return by_key, others


def _find_key(name: str, place: str, keys: Collection[str]) -> str:
    """Return the name of the innermost form field that contains a place."""
    containing = [
        key for key in keys if key.startswith(f"{name}/") and _contains(_to_place(name, key), place)
    ]
    return max(containing, key=len, default=name)


def _to_place(name: str, key: str) -> str:
    return key.removeprefix(name).removeprefix("/").replace("/", ".")


def _contains(outer: str, place: str) -> bool:
    return place == outer or place.startswith((f"{outer}.", f"{outer}["))
