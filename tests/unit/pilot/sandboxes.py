"""The sandbox of this machine, for slots in tests."""

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from pilot.node.sandboxes import find_sandbox, with_network
from pilot.sandbox.sandbox import Sandbox


def found_sandbox() -> Sandbox:
    """Of a pilot with this process's PATH. Raises ``NoSandboxError``."""
    return _found(os.environ["PATH"])


@cache
def _found(_path: str) -> Sandbox:
    """Found once for all tests of a process."""
    folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
    found = find_sandbox("required", folder, [], hidden=[folder / "hidden"])
    assert isinstance(found, Sandbox)
    return found


@cache
def _connected(path: str) -> Sandbox:
    """With a network for tools that ask for one."""
    return with_network(_found(path), "preferred", [])


def sandbox_everywhere(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of slots in tests whose own do not say why there is none: in the sandbox where
    ``SLUICE_TEST_SANDBOX`` is set, as ``make test-long`` does."""
    if "no_sandbox" in settings or not os.environ.get("SLUICE_TEST_SANDBOX"):
        return {}
    return {"sandbox": _connected(os.environ["PATH"])}
