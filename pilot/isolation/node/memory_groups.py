"""Control groups of the pilot and its slots, which limit memory, processes and cores."""

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import structlog

from sluice.contracts.common.base import Contract
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

_MOUNTS, _OWN = Path("/proc/self/mountinfo"), Path("/proc/self/cgroup")
_PREFIX = "sluice-"
#: Files of limits that would not apply to processes that leave the group.
_LIMIT_FILES = ("memory.max", "memory.high", "cpu.max")
#: Seconds for killed processes to leave their group.
_PATIENCE = 2.0


class ControlGroupSettings(Contract):
    """Control groups in which each slot can have a group.

    Attributes:
        folder: The group for memory.
        version: The version of cgroups.
        processes: The group that limits processes, or None.
        cores: The group that divides cores, or None.
    """

    folder: str
    version: Literal[1, 2]
    processes: str | None = None
    cores: str | None = None


@dataclass(frozen=True, slots=True)
class PilotControlGroups:
    """The control groups of this pilot.

    Attributes:
        locks: Locks on the folders, held while this process lives.
        previous_group: The group that this process left to create them.
    """

    groups: ControlGroupSettings
    locks: list[int]
    previous_group: Path | None

    def remove(self) -> None:
        """Remove the groups after the slots have ended."""
        folders = (self.groups.folder, self.groups.processes, self.groups.cores)
        for folder in dict.fromkeys(filter(None, folders)):
            _remove_all(Path(folder))
        for lock in self.locks:
            os.close(lock)
        _move_back(self.previous_group, Path(self.groups.folder))


class NoControlGroupsError(Exception):
    """This process cannot create control groups here."""


def find_memory_groups(name: str) -> PilotControlGroups | None:
    """Create the control groups of this pilot.

    ``name`` must be unique. The kind of the groups, or the reason for their absence, is logged.
    Groups that killed pilots left in the same place are removed.
    """
    reasons = []
    for version, create in ((2, _create_in_v2), (1, _create_in_v1)):
        try:
            groups = create(f"{_PREFIX}{name}")
        except (NoControlGroupsError, OSError, IndexError) as error:
            reasons.append(f"cgroup v{version}: {reason_of(error)}")
        else:
            log.info("memory.limits", kind=f"cgroup v{version}", group=groups.groups.folder)
            return groups
    note = "a job that takes memory fast may exceed its limit before that is seen"
    log.warning("memory.limits", kind="each process", reason="; ".join(reasons), note=note)
    return None


def remove_groups(folder: str) -> None:
    """Remove the groups of an earlier pilot, unless processes run in them."""
    _remove_if_unlocked(Path(folder))
    _remove_if_unlocked(_get_sibling(Path(folder)))


def remove_slot_groups(groups: ControlGroupSettings, pid: int) -> None:
    """Remove the groups of a slot whose process has ended."""
    for folder in dict.fromkeys(filter(None, (groups.folder, groups.processes, groups.cores))):
        _remove(Path(folder) / slot_group(pid))


def slot_group(pid: int | str) -> str:
    """Return the name of a slot's group. ``pid`` is the id of its process."""
    return f"slot-{pid}"


def limit_file(groups: ControlGroupSettings) -> str:
    """Return the name of the file that sets the memory limit."""
    return "memory.max" if groups.version == 2 else "memory.limit_in_bytes"


def _create_in_v1(name: str) -> PilotControlGroups:
    own = _find_own_group(lambda kind, options: kind == "cgroup" and "memory" in options, "memory")
    if (own / "memory.use_hierarchy").read_text().strip() != "1":
        raise NoControlGroupsError(f"{own} does not count the memory of groups below it")
    pilot_groups = _create_groups(own / name, version=1, previous_group=None)
    # In version 1, each controller has its own tree.
    others = {
        kind: _create_in_controller(controller, name, pilot_groups.locks)
        for kind, controller in (("processes", "pids"), ("cores", "cpu"))
    }
    return replace(pilot_groups, groups=pilot_groups.groups.model_copy(update=others))


def _create_in_controller(controller: str, name: str, locks: list[int]) -> str | None:
    """Create a group in the tree of another controller, or return None on failure."""
    try:
        own = _find_own_group(
            lambda kind, options: kind == "cgroup" and controller in options, controller
        )
        _remove_leftovers(own)
        locks.append(_create_locked_folder(own / name))
    except (NoControlGroupsError, OSError, IndexError):
        return None
    return str(own / name)


def _create_in_v2(name: str) -> PilotControlGroups:
    """Create groups of version 2.

    If the pilot is alone in its group, the groups are created in this group, and the pilot moves to
    a sibling of them. A group that divides memory may not have processes itself. Otherwise the
    groups are created beside the pilot's group, unless it has a limit that would not apply there.
    """
    own = _find_own_group(lambda kind, options: kind == "cgroup2", "")
    if "memory" not in (own / "cgroup.controllers").read_text().split():
        raise NoControlGroupsError("it does not control memory here")
    previous_group = None
    # Only the root group may divide memory and have processes too.
    if not (own / "memory.max").exists():
        place = own
    elif set((own / "cgroup.procs").read_text().split()) == {str(os.getpid())}:
        place = previous_group = own
        _move_aside(own, _get_sibling(own / name))
    elif any(_has_limit(own / file) for file in _LIMIT_FILES):
        raise NoControlGroupsError(f"{own} is shared with other processes, and has a limit")
    else:
        place = own.parent
    _enable_memory(place)
    return _create_groups(place / name, version=2, previous_group=previous_group)


def _create_groups(
    folder: Path, *, version: Literal[1, 2], previous_group: Path | None
) -> PilotControlGroups:
    """Create the group for the slots' groups and check that a slot's group works in it.

    Raises:
        OSError: A slot could not have a group with a limit.
    """
    try:
        _remove_leftovers(folder.parent)
        lock = _create_locked_folder(folder)
    except OSError:
        _move_back(previous_group, folder)
        raise
    pilot_groups = PilotControlGroups(
        ControlGroupSettings(folder=str(folder), version=version), [lock], previous_group
    )
    try:
        if version == 2:
            _enable_memory(folder)
            pilot_groups = replace(
                pilot_groups,
                groups=pilot_groups.groups.model_copy(update=_enable_controllers(folder)),
            )
        probe = folder / "probe"
        probe.mkdir()
        (probe / limit_file(pilot_groups.groups)).write_text(str(1 << 40))
        os.close(os.open(probe / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        _remove(probe)
    except OSError:
        pilot_groups.remove()
        raise
    return pilot_groups


def _create_locked_folder(folder: Path) -> int:
    """Create a folder, lock it, and return the descriptor that holds the lock.

    Until the folder is locked, another pilot may remove it as a leftover. It is created again in
    that case.
    """
    while True:
        folder.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            lock = _open_folder(folder)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_at(lock, folder):
                return lock
            os.close(lock)


def _is_at(descriptor: int, folder: Path) -> bool:
    """Return whether the open folder is still the folder at this path.

    A folder that was removed and created again has the same path and another lock.
    """
    try:
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    except FileNotFoundError:
        return False


def _open_folder(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _has_limit(file: Path) -> bool:
    with suppress(FileNotFoundError):
        return file.read_text().split()[0] != "max"
    return False


def _move_aside(own_group: Path, sibling: Path) -> None:
    """Move this process from ``own_group`` to ``sibling``.

    Raises:
        OSError: The move failed. The process is back in ``own_group``.
    """
    sibling.mkdir()
    try:
        (sibling / "cgroup.procs").write_text(str(os.getpid()))
        _enable_memory(own_group)
    except OSError:
        with suppress(OSError):
            (own_group / "cgroup.procs").write_text(str(os.getpid()))
        _remove(sibling)
        raise


def _move_back(previous_group: Path | None, folder: Path) -> None:
    """Move this process back to the group that it left to create ``folder``, now removed."""
    if previous_group is not None:
        with suppress(OSError):
            (previous_group / "cgroup.subtree_control").write_text("-memory")
            (previous_group / "cgroup.procs").write_text(str(os.getpid()))
            _get_sibling(folder).rmdir()


def _enable_memory(place: Path) -> None:
    if "memory" not in (place / "cgroup.subtree_control").read_text().split():
        (place / "cgroup.subtree_control").write_text("+memory")


def _enable_controllers(folder: Path) -> dict[str, str]:
    """Enable the controllers for processes and cores as far as possible, and return them."""
    folders = {}
    for kind, controller in (("processes", "pids"), ("cores", "cpu")):
        with suppress(OSError):
            (folder.parent / "cgroup.subtree_control").write_text(f"+{controller}")
            (folder / "cgroup.subtree_control").write_text(f"+{controller}")
            folders[kind] = str(folder)
    return folders


def _get_sibling(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.pilot")


def _find_own_group(matches: Callable[[str, set[str]], bool], controller: str) -> Path:
    """Return the folder of this process's control group.

    Raises:
        NoControlGroupsError: There is no such group here.
    """
    lines = [line.split(":", 2) for line in _OWN.read_text().splitlines()]
    paths = [path for _, controllers, path in lines if controller in controllers.split(",")]
    for line in _MOUNTS.read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split()[:3]
        root, mount = before.split()[3:5]
        if (
            matches(kind, set(options.split(",")))
            and paths
            and (paths[0] + "/").startswith(root.rstrip("/") + "/")
        ):
            return Path(mount) / paths[0][len(root.rstrip("/")) :].lstrip("/")
    raise NoControlGroupsError("there is none here")


def _remove_leftovers(place: Path) -> None:
    """Remove the groups of pilots that have ended."""
    for folder in place.glob(f"{_PREFIX}*"):
        _remove_if_unlocked(folder)


def _remove_if_unlocked(folder: Path) -> None:
    """Remove a group on which no living pilot holds a lock.

    The kernel keeps a group that has processes.
    """
    with suppress(OSError):
        descriptor = _open_folder(folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_at(descriptor, folder):
                return
            for inner in [path for path in folder.iterdir() if path.is_dir()]:
                inner.rmdir()
            folder.rmdir()
        finally:
            os.close(descriptor)


def _remove_all(folder: Path) -> None:
    for inner in [path for path in folder.iterdir() if path.is_dir()]:
        _remove(inner)
    _remove(folder)


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError as error:  # Processes that were just killed are still in the group.
            if time.monotonic() > deadline:
                log.warning("memory.group_not_removed", group=str(folder), reason=reason_of(error))
                return
            time.sleep(0.02)
        else:
            return
