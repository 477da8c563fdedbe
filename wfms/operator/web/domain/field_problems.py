"""The form fields that findings are about."""

from collections.abc import Collection, Iterable

from sluice.contracts.common.problems import Finding
from sluice.text.visible_text import quoted


def group_problems(
    findings: Iterable[Finding], parameters: Collection[str], keys: Collection[str]
) -> tuple[dict[str, list[str]], list[Finding]]:
    """Return the problems of each form field, and the findings that are about no field.

    Args:
        findings: The errors of a request.
        parameters: The names of the parameters.
        keys: The names of the form fields.
    """
    by_key: dict[str, list[str]] = {}
    others: list[Finding] = []
    for finding in findings:
        name, place, problem = finding.parameter, finding.place, finding.problem
        if name not in parameters:
            others.append(finding)
            continue
        key = _find_key(name, place, keys)
        if place and _to_place(name, key) != place:
            problem = f"field {quoted(place)} {problem}"
        by_key.setdefault(key, []).append(problem)
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
