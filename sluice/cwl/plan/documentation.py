"""What an author says of a workflow, a step or a parameter."""

from typing import Any


def documentation(body: Any) -> str:
    written = body.get("doc") or body.get("label") or ""
    if isinstance(written, list):
        return "\n".join(str(line) for line in written)
    return str(written).strip()
