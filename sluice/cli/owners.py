"""Whose something is, in words."""

from collections.abc import Sequence

from sluice.contracts.owners import EVERYONE


def whose(owner: str | None, group: str, shared_with: Sequence[str] = ()) -> str:
    """``of anna, group ocr, shared with spd``; empty: it is everybody's, and nobody's in
    particular."""
    parts = [] if owner is None else [f"of {owner}"]
    if group != EVERYONE:
        parts.append(f"group {group}")
    if shared_with:
        parts.append(f"shared with {', '.join(shared_with)}")
    return ", ".join(parts)
