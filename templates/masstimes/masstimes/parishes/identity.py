"""The ids of parishes in the names of files and in tables."""

from __future__ import annotations

import re
from collections.abc import Iterable

from masstimes.folding import folded

_MOST = 80


def with_ids(parishes: Iterable[dict[str, str]]) -> tuple[list[dict[str, str]], int]:
    """Return each parish once, with an ``id``, and the number of repeated equal rows.

    The id has letters, digits and hyphens. It comes from the page, or else from place and name. A
    number makes it unique.
    """
    seen: dict[tuple[str, ...], None] = {}
    taken: set[str] = set()
    known: list[dict[str, str]] = []
    again = 0
    for parish in parishes:
        what = tuple(parish.values())
        if what in seen:
            again += 1
            continue
        seen[what] = None
        known.append(parish | {"id": _free(_plain(parish), taken)})
    return known, again


def _plain(parish: dict[str, str]) -> str:
    text = parish["id"] or f"{parish['place']} {parish['name']}"
    return re.sub(r"[^a-z0-9]+", "-", folded(text)).strip("-")[:_MOST].strip("-") or "parish"


def _free(name: str, taken: set[str]) -> str:
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free)
    return free
