"""Ownership and visibility in words."""

from collections.abc import Sequence

from sluice.contracts.access.owners import EVERYONE


def describe_ownership(owner: str | None, group: str, shared_with: Sequence[str] = ()) -> str:
    """Return the ownership in words: ``of anna, group ocr, shared with spd``.

    The text is empty if the object has no owner and everyone sees it.
    """
    parts = [] if owner is None else [f"of {owner}"]
    if group != EVERYONE:
        parts.append(f"group {group}")
    if shared_with:
        parts.append(f"shared with {', '.join(shared_with)}")
    return ", ".join(parts)
