"""Name the properties of a machine that tests need and that no package provides.

A test names its needs: ``@pytest.mark.needs(ROOT_RIGHTS)``. Root runs every test, and a test whose
need is missing fails. A run of an ordinary user leaves such tests out and says so at its end.
"""

import os
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from pilot.isolation.node.memory_groups import find_memory_groups

ROOT_RIGHTS = "root's rights"
MEMORY_GROUPS = "control groups for memory"
TUNNELS = "/dev/net/tun"
#: Podman of an ordinary user needs these to limit and to end containers.
CONTAINER_GROUPS = "control groups of version 2 for containers"
DEVICE = "a device that no sandbox has"

_DEVICES = ("/dev/net/tun", "/dev/fuse", "/dev/kvm", "/dev/rfkill", "/dev/kmsg", "/dev/autofs")


def find_device() -> str | None:
    """Return a device that is in no sandbox and that this user may open, in the place of a GPU."""
    for path in _DEVICES:
        with suppress(OSError):
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            return path
    return None


def _has_memory_groups() -> bool:
    groups = find_memory_groups(str(uuid.uuid4()))
    if groups is not None:
        groups.remove()
    return groups is not None


_IS_THERE: Mapping[str, Callable[[], bool]] = {
    ROOT_RIGHTS: lambda: os.geteuid() == 0,
    MEMORY_GROUPS: _has_memory_groups,
    TUNNELS: lambda: os.access(TUNNELS, os.R_OK | os.W_OK),
    CONTAINER_GROUPS: Path("/sys/fs/cgroup/cgroup.controllers").exists,
    DEVICE: lambda: find_device() is not None,
}


def list_missing_needs() -> list[str]:
    """Return what an ordinary user lacks here, and nothing for root."""
    if os.geteuid() == 0:
        return []
    return [need for need, is_there in _IS_THERE.items() if not is_there()]


def deselect_tests(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the tests from ``items`` that need what this user lacks."""
    missing = set(list_missing_needs())
    deselected = [item for item in items if missing & _list_needs(item)]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if not missing & _list_needs(item)]


def report_missing_needs(terminal: pytest.TerminalReporter) -> None:
    """Write one line on the tests that were left out; nothing for root."""
    if missing := list_missing_needs():
        terminal.write_line(
            f"left out: tests that need {', '.join(missing)}, which this user lacks here; run"
            " `make test` as root, in a container or on a machine of your own, for all tests",
            yellow=True,
        )


def _list_needs(item: pytest.Item) -> set[str]:
    return {need for mark in item.iter_markers("needs") for need in mark.args}
