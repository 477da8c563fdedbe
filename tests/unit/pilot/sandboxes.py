"""The sandbox of this machine, for slots in tests."""

import tempfile
from functools import cache
from pathlib import Path

from pilot.node.sandboxes import find_sandbox
from pilot.sandbox.sandbox import Sandbox


@cache
def found_sandbox() -> Sandbox:
    """Found once for all tests of a process. Raises ``NoSandboxError``."""
    folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
    found = find_sandbox("required", folder, [], hidden=folder / "hidden")
    assert isinstance(found, Sandbox)
    return found
