"""Provide the two kinds of slots for attacks by tools: without a sandbox, where each attack
succeeds, and with a sandbox, where each attack fails."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pilot.isolation.node.memory_groups import find_memory_groups
from sluice.contracts.jobs.needs import Resources
from tests.unit.pilot.sandboxes import get_sandbox

#: Resources of a job without a sandbox: there are no limits, so that an attack shows its effect.
OPEN = Resources(disk=0, time_limit=60.0)
#: Resources of a job in the sandbox; it may use twice the memory. Attacks on limits take more, and
#: more than 250 processes, 4 096 open files and 2 048 files. See ``tools/limits.py``.
LIMITED = Resources(ram=100, disk=8, time_limit=60.0)


@contextmanager
def open_sandbox_settings() -> Iterator[dict[str, Any]]:
    """Yield settings of a slot (fields of ``RunnerSettings``) whose tools run in the sandbox with
    these limits."""
    groups = find_memory_groups(str(uuid.uuid4()))
    limits = {"processes": 250, "open_files": 4096}
    try:
        yield {
            "sandbox": get_sandbox().model_copy(update=limits),
            "memory_groups": groups and groups.groups,
        }
    finally:
        if groups is not None:
            groups.remove()
