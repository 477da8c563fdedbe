"""The two kinds of slots that attacks by tools are tried in: in the open, where each of them
succeeds, and in the sandbox, where none does."""

from typing import Any

from sluice.contracts.needs import Resources
from tests.unit.pilot.sandboxes import found_sandbox

#: What a job may have in the open: as much as it wants, so that an attack shows what it can do.
OPEN = Resources(disk=0, time_limit=60.0)
#: What it may have in the sandbox. Attacks on limits take more than this, and more than 250
#: processes, 4 096 open files, 2 500 files: see ``tools/limits.py``.
LIMITED = Resources(ram=32, disk=256, time_limit=60.0)


def sandboxed() -> dict[str, Any]:
    """Settings of a slot (fields of ``RunnerSettings``) whose tools run in the sandbox, with the
    limits above."""
    return {"sandbox": found_sandbox()}
