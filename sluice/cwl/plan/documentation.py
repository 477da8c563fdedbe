"""The documentation of a workflow, a step or a parameter."""

from typing import Any


def documentation(body: Any) -> str:
    """Return the ``doc`` or ``label`` of a node, or an empty text."""
    text = body.get("doc") or body.get("label") or ""
    if isinstance(text, list):
        return "\n".join(str(line) for line in text)
    return str(text).strip()
