"""Find the sandbox of this machine for slots in tests."""

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from pilot.isolation.node.sandboxes import find_sandbox, with_network
from pilot.isolation.sandbox.sandbox import Sandbox


def get_sandbox() -> Sandbox:
    """Return the sandbox that a pilot with the PATH of this process would use. Raises
    ``NoSandboxError``."""
    return _find_test_sandbox(os.environ["PATH"])


@cache
def _find_test_sandbox(_path: str) -> Sandbox:
    """Find the sandbox once for all tests of a process."""
    folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
    sandbox = find_sandbox("required", folder, [], hidden_paths=[folder / "hidden"])
    assert isinstance(sandbox, Sandbox)
    return sandbox


@cache
def _connect_sandbox(path: str) -> Sandbox:
    """Return the sandbox with a network for tools that ask for one."""
    return with_network(_find_test_sandbox(path), "preferred", [])


def add_sandbox(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings that put slots of tests into the sandbox where ``SLUICE_TEST_SANDBOX`` is
    set, as in ``make test-long``. Settings that say ``no_sandbox`` win."""
    if "no_sandbox" in settings or not os.environ.get("SLUICE_TEST_SANDBOX"):
        return {}
    return {"sandbox": _connect_sandbox(os.environ["PATH"])}
