"""The ids of parishes in the names of files and in tables."""

import re
from collections.abc import Iterable

from masstimes.folding import fold

_MAX_LENGTH = 80


def assign_ids(parishes: Iterable[dict[str, str]]) -> tuple[list[dict[str, str]], int]:
    """Return each parish once, with an ``id``, and the number of repeated equal rows.

    The id has letters, digits and hyphens. It comes from the page, or else from place and name. A
    number makes it unique.
    """
    seen_rows: dict[tuple[str, ...], None] = {}
    used_ids: set[str] = set()
    unique: list[dict[str, str]] = []
    duplicates = 0
    for parish in parishes:
        row = tuple(parish.values())
        if row in seen_rows:
            duplicates += 1
            continue
        seen_rows[row] = None
        unique.append(parish | {"id": _make_unique(_make_slug(parish), used_ids)})
    return unique, duplicates


def _make_slug(parish: dict[str, str]) -> str:
    text = parish["id"] or f"{parish['place']} {parish['name']}"
    return re.sub(r"[^a-z0-9]+", "-", fold(text)).strip("-")[:_MAX_LENGTH].strip("-") or "parish"


def _make_unique(name: str, used_ids: set[str]) -> str:
    unique_name, number = name, 1
    while unique_name in used_ids:
        number += 1
        unique_name = f"{name}-{number}"
    used_ids.add(unique_name)
    return unique_name
