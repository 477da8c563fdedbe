"""The sandbox of this machine, for slots in tests."""

import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from pilot.node.sandboxes import find_sandbox
from pilot.sandbox.sandbox import Sandbox


@cache
def found_sandbox() -> Sandbox:
    """Found once for all tests of a process. Raises ``NoSandboxError``."""
    folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
    found = find_sandbox("required", folder, [], hidden=folder / "hidden")
    assert isinstance(found, Sandbox)
    return found


def sandbox_everywhere() -> dict[str, Any]:
    """Settings of slots in tests that say nothing themselves: in the sandbox where
    ``SLUICE_TEST_SANDBOX`` is set, as ``make test-long`` does."""
    return {"sandbox": found_sandbox()} if os.environ.get("SLUICE_TEST_SANDBOX") else {}
