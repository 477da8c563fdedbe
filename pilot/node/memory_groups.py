"""The kernel's groups of processes with a common limit of memory (control groups): which this pilot
may make, and their end."""

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import structlog

from sluice.contracts.base import Contract
from sluice.os_errors import reason_of

log = structlog.get_logger(__name__)

_MOUNTS, _OWN = Path("/proc/self/mountinfo"), Path("/proc/self/cgroup")
_NAMED = "sluice-"
#: Limits that would not hold for processes that leave the group which has them.
_HELD_BY = ("memory.max", "memory.high", "cpu.max")
#: Seconds within which the processes of a group that were killed have gone.
_PATIENCE = 2.0


class MemoryGroups(Contract):
    """``folder``: a group in which there can be one for each slot. ``version``: of the kernel's
    interface. ``processes``, ``cores``: such groups by which the number of processes can be limited
    and cores shared out; None: not here."""

    folder: str
    version: Literal[1, 2]
    processes: str | None = None
    cores: str | None = None


@dataclass(frozen=True, slots=True)
class OwnGroups:
    """``locks``: on the folders, held while this process lives. ``left``: the group that it was in
    before it moved beside its slots'."""

    groups: MemoryGroups
    locks: list[int]
    left: Path | None

    def remove(self) -> None:
        """After the slots have ended."""
        known = (self.groups.folder, self.groups.processes, self.groups.cores)
        for folder in dict.fromkeys(filter(None, known)):
            _remove_all(Path(folder))
        for lock in self.locks:
            os.close(lock)
        _move_back(self.left, Path(self.groups.folder))


class NoGroups(Exception):
    """Why none can be made here."""


def find_memory_groups(name: str) -> OwnGroups | None:
    """Makes groups for this pilot; ``name`` is its only one. What there is, and why no better,
    stands in the log. What pilots that were killed have left in the same place is removed."""
    reasons = []
    for version, make in ((2, _make_second), (1, _make_first)):
        try:
            groups = make(f"{_NAMED}{name}")
        except (NoGroups, OSError, IndexError) as error:
            reasons.append(f"cgroup v{version}: {reason_of(error)}")
        else:
            log.info("memory.limits", kind=f"cgroup v{version}", group=groups.groups.folder)
            return groups
    note = "a job that takes memory fast may exceed its limit before that is seen"
    log.warning("memory.limits", kind="each process", reason="; ".join(reasons), note=note)
    return None


def remove_groups(folder: str) -> None:
    """Those of a pilot that has gone, as far as nothing runs in them, wherever this process is
    itself."""
    _remove_if_left(Path(folder))
    _remove_if_left(_beside(Path(folder)))


def remove_slot_groups(groups: MemoryGroups, pid: int) -> None:
    """Of a slot whose process has ended."""
    for folder in dict.fromkeys(filter(None, (groups.folder, groups.processes, groups.cores))):
        _remove(Path(folder) / slot_group(pid))


def slot_group(pid: int | str) -> str:
    """The name of a slot's group, by the number of its process."""
    return f"slot-{pid}"


def limit_file(groups: MemoryGroups) -> str:
    return "memory.max" if groups.version == 2 else "memory.limit_in_bytes"


def _make_first(name: str) -> OwnGroups:
    own = _own_group(lambda kind, options: kind == "cgroup" and "memory" in options, "memory")
    if (own / "memory.use_hierarchy").read_text().strip() != "1":
        raise NoGroups(f"{own} does not count what is in groups below it")
    made = _made(own / name, version=1, left=None)
    # Each controller has a tree of its own.
    others = {
        kind: _made_beside(controller, name, made.locks)
        for kind, controller in (("processes", "pids"), ("cores", "cpu"))
    }
    return replace(made, groups=made.groups.model_copy(update=others))


def _made_beside(controller: str, name: str, locks: list[int]) -> str | None:
    """A group in the tree of another controller; None where none can be made."""
    try:
        own = _own_group(
            lambda kind, options: kind == "cgroup" and controller in options, controller
        )
        _remove_left(own)
        locks.append(_made_and_locked(own / name))
    except (NoGroups, OSError, IndexError):
        return None
    return str(own / name)


def _make_second(name: str) -> OwnGroups:
    """In the pilot's own group where it is alone there; then it moves to one beside its slots', as
    a group that shares memory out has no processes itself. Else beside its own, where that has no
    limit which would not hold there."""
    own = _own_group(lambda kind, options: kind == "cgroup2", "")
    if "memory" not in (own / "cgroup.controllers").read_text().split():
        raise NoGroups("it does not look after memory here")
    left = None
    # That of the whole machine is the only one that may have processes all the same.
    if not (own / "memory.max").exists():
        place = own
    elif set((own / "cgroup.procs").read_text().split()) == {str(os.getpid())}:
        place = left = own
        _move_aside(own, _beside(own / name))
    elif any(_limits(own / file) for file in _HELD_BY):
        raise NoGroups(f"{own} is shared with other processes, and has a limit")
    else:
        place = own.parent
    _share_memory(place)
    return _made(place / name, version=2, left=left)


def _made(folder: Path, *, version: Literal[1, 2], left: Path | None) -> OwnGroups:
    """Raises ``OSError`` where a slot could not have its group in it, with a limit."""
    try:
        _remove_left(folder.parent)
        lock = _made_and_locked(folder)
    except OSError:
        _move_back(left, folder)
        raise
    own = OwnGroups(MemoryGroups(folder=str(folder), version=version), [lock], left)
    try:
        if version == 2:
            _share_memory(folder)
            own = replace(own, groups=own.groups.model_copy(update=_shared_more(folder)))
        probe = folder / "probe"
        probe.mkdir()
        (probe / limit_file(own.groups)).write_text(str(1 << 40))
        os.close(os.open(probe / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        _remove(probe)
    except OSError:
        own.remove()
        raise
    return own


def _made_and_locked(folder: Path) -> int:
    """Make a folder, lock it, and return the descriptor that holds the lock.

    Until the folder is locked, another pilot may remove it as one that a killed pilot left. The
    folder is made again then.
    """
    while True:
        folder.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            lock = _opened(folder)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_at(lock, folder):
                return lock
            os.close(lock)


def _is_at(descriptor: int, folder: Path) -> bool:
    """Return whether the open folder is still the one at this path.

    A folder that was removed and made again has the same path and another lock.
    """
    try:
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    except FileNotFoundError:
        return False


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _limits(file: Path) -> bool:
    with suppress(FileNotFoundError):
        return file.read_text().split()[0] != "max"
    return False


def _move_aside(own: Path, beside: Path) -> None:
    """This process leaves ``own`` for ``beside``. Raises ``OSError``; it is where it was then."""
    beside.mkdir()
    try:
        (beside / "cgroup.procs").write_text(str(os.getpid()))
        _share_memory(own)
    except OSError:
        with suppress(OSError):
            (own / "cgroup.procs").write_text(str(os.getpid()))
        _remove(beside)
        raise


def _move_back(left: Path | None, folder: Path) -> None:
    """Where this process has left a group to make ``folder``, which is gone now."""
    if left is not None:
        with suppress(OSError):
            (left / "cgroup.subtree_control").write_text("-memory")
            (left / "cgroup.procs").write_text(str(os.getpid()))
            _beside(folder).rmdir()


def _share_memory(place: Path) -> None:
    if "memory" not in (place / "cgroup.subtree_control").read_text().split():
        (place / "cgroup.subtree_control").write_text("+memory")


def _shared_more(folder: Path) -> dict[str, str]:
    """What a group shares out beside memory, as far as it may: processes, cores."""
    found = {}
    for kind, controller in (("processes", "pids"), ("cores", "cpu")):
        with suppress(OSError):
            (folder.parent / "cgroup.subtree_control").write_text(f"+{controller}")
            (folder / "cgroup.subtree_control").write_text(f"+{controller}")
            found[kind] = str(folder)
    return found


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.pilot")


def _own_group(wanted: Callable[[str, set[str]], bool], controller: str) -> Path:
    """Where the group of this process is to be seen. Raises ``NoGroups``."""
    lines = [line.split(":", 2) for line in _OWN.read_text().splitlines()]
    paths = [path for _, controllers, path in lines if controller in controllers.split(",")]
    for line in _MOUNTS.read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split()[:3]
        root, mount = before.split()[3:5]
        if (
            wanted(kind, set(options.split(",")))
            and paths
            and (paths[0] + "/").startswith(root.rstrip("/") + "/")
        ):
            return Path(mount) / paths[0][len(root.rstrip("/")) :].lstrip("/")
    raise NoGroups("there is none here")


def _remove_left(place: Path) -> None:
    """Groups of pilots that have gone."""
    for folder in place.glob(f"{_NAMED}*"):
        _remove_if_left(folder)


def _remove_if_left(folder: Path) -> None:
    """Remove a group that no living pilot holds a lock on. The kernel keeps one with processes."""
    with suppress(OSError):
        descriptor = _opened(folder)
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
        except OSError as error:  # processes that have just been killed are still in it
            if time.monotonic() > deadline:
                log.warning("memory.group_not_removed", group=str(folder), reason=error.strerror)
                return
            time.sleep(0.02)
        else:
            return
