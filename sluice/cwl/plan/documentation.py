"""The documentation of a workflow, a step or a parameter."""

from typing import Any


def documentation(body: Any) -> str:
    """Return the ``doc`` or ``label`` of a node, or an empty text."""
    written = body.get("doc") or body.get("label") or ""
    if isinstance(written, list):
        return "\n".join(str(line) for line in written)
    return str(written).strip()
