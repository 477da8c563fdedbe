"""The two kinds of slots that attacks by tools are tried in: in the open, where each of them
succeeds, and in the sandbox, where none does."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pilot.node.memory_groups import find_memory_groups
from sluice.contracts.needs import Resources
from tests.unit.pilot.sandboxes import found_sandbox

#: What a job may have in the open: as much as it wants, so that an attack shows what it can do.
OPEN = Resources(disk=0, time_limit=60.0)
#: What it may have in the sandbox, and twice that memory. Attacks on limits take more than this,
#: and more than 250 processes, 4 096 open files, 2 048 files: see ``tools/limits.py``.
LIMITED = Resources(ram=100, disk=8, time_limit=60.0)


@contextmanager
def sandboxed() -> Iterator[dict[str, Any]]:
    """Settings of a slot (fields of ``RunnerSettings``) whose tools run in the sandbox, with the
    limits above."""
    groups = find_memory_groups(str(uuid.uuid4()))
    limits = {"processes": 250, "open_files": 4096}
    try:
        yield {
            "sandbox": found_sandbox().model_copy(update=limits),
            "memory_groups": groups and groups.groups,
        }
    finally:
        if groups is not None:
            groups.remove()
