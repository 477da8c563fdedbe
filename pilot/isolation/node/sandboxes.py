"""The sandbox for tools on this node, found by trying it."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import structlog

from pilot.isolation.node.namespaces import why_no_namespaces
from pilot.isolation.node.system_files import copy_settings
from pilot.isolation.sandbox.bubblewrap import MountKind, MountPoint
from pilot.isolation.sandbox.network import UserNetwork
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import Sandbox, SandboxOptions, SandboxUse, ToolRootPath
from pilot.isolation.sandbox.sandbox_instance import SandboxError, SandboxInstance
from pilot.isolation.sandbox.view import View, VisibleFile
from sluice.text.os_errors import os_error_sentence
from sluice.text.visible_text import quoted
from sluice.tools.visible_paths import SYSTEM, VisiblePaths, visible_paths, within

log = structlog.get_logger(__name__)

#: These files list all keys of the user. They are hidden from everybody.
_KEYS = ("/proc/keys", "/proc/key-users")
#: Folders of /proc that are not masked. Settings change only with rights that no tool has, and the
#: entries of devices come and go.
_UNMASKED = ("sys", "irq")
#: Program that checks a sandbox: it prints the first of its arguments that it cannot read.
_PROBE = (
    "sh",
    "-c",
    'for path; do test -r "$path" || { printf %s "$path"; break; }; done',
    "sh",
)
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the program's own
#: Folders in which each job has its own files. Visible paths in them are mounted for each job.
_OWN_OF_JOBS = ("/tmp", _SHARED_MEMORY)  # noqa: S108


class NoSandboxError(Exception):
    """The pilot needs a sandbox and this node has none. The message is a sentence."""


def with_network(sandbox: Sandbox, use: SandboxUse, allowed_networks: Sequence[str]) -> Sandbox:
    """Return the sandbox with a network for tools that ask for one, if possible.

    ``allowed_networks`` is described in ``UserNetwork``.
    """
    program = shutil.which("slirp4netns")
    why = "there is no slirp4netns on this node's PATH: install it"
    if program is not None:
        network = UserNetwork(program=program, allowed=list(allowed_networks))
        connected = sandbox.model_copy(update={"network": network})
        failure = _find_failure(connected, network=True)
        if failure is None:
            return connected
        why = f"slirp4netns does not work on this node: {failure}"
    log.warning("sandbox.no_network", reason=why)
    return sandbox.model_copy(update={"no_network": why, "node_network": use != "required"})


def find_sandbox(
    use: SandboxUse, folder: Path, more_paths: Sequence[Path], *, hidden_paths: Sequence[Path]
) -> Sandbox | str:
    """Return the sandbox, or a sentence that says why there is none.

    Args:
        use: Whether a sandbox is required.
        folder: Folder for files that all tools see. It is created.
        more_paths: Paths that tools see besides those of the system, the search path and Sluice.
        hidden_paths: Files and folders that tools never see.

    Raises:
        NoSandboxError: A sandbox is required, or possible on this node but broken.
        OSError: The folder could not be created.
    """
    if use == "off":
        return "the pilot's sandbox is switched off"
    sandbox = _try_sandbox(folder, [str(path) for path in more_paths], hidden_paths)
    if isinstance(sandbox, Sandbox):
        log.info("sandbox.found", kind="namespaces", bubblewrap=sandbox.bubblewrap)
        for path, reason in sandbox.dropped.items():
            log.warning("sandbox.path_not_visible", path=path, reason=reason)
        return sandbox
    if use == "required":
        raise NoSandboxError(
            f"SLUICE_PILOT_SANDBOX is required, but {sandbox}; fix this (what a node needs:"
            " docs/how-to/contain-tools.md), or set it to preferred, to run tools without"
        )
    return sandbox


def _try_sandbox(
    folder: Path, more_paths: Sequence[str], hidden_paths: Sequence[Path]
) -> Sandbox | str:
    """Return the sandbox, or a sentence that says why this node cannot have one.

    Raises:
        NoSandboxError: This node can have a sandbox, but it does not work.
    """
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        return "there is no bubblewrap (bwrap) on this node's PATH"
    settings = folder / "etc"
    copy_settings(settings, more_paths)
    closed = [os.path.realpath(path) for path in hidden_paths if os.path.exists(path)]
    visible = visible_paths(os.environ.get("PATH", os.defpath), more_paths, hidden_paths=closed)
    make = partial(_create_sandbox, bubblewrap, str(settings), hidden_paths=closed)
    sandbox = make(visible)
    failure = _find_failure(sandbox, network=False)
    if failure is None:
        return sandbox
    why = why_no_namespaces()
    if why is not None:
        return f"namespaces cannot be created on this node: {why} ({failure})"
    reduced = make(visible.without(_find_broken_paths(make, visible)))
    if reduced.dropped != sandbox.dropped:
        failure = _find_failure(reduced, network=False)
    if failure is None:
        return reduced
    raise NoSandboxError(
        f"the sandbox does not work, though this node can have one: {failure}; fix this (what a"
        " node needs: docs/how-to/contain-tools.md), or set SLUICE_PILOT_SANDBOX=off, to run tools"
        " with the rights of the pilot's user"
    )


def _find_broken_paths(
    make: Callable[[VisiblePaths], Sandbox], visible: VisiblePaths
) -> dict[str, str]:
    """Return the visible paths that break the sandbox or cannot be read in it, with the reasons.

    The result is empty if the sandbox does not work without these paths either.
    """
    paths = [path for path in visible.sources if path not in SYSTEM]
    minimal = visible.without(dict.fromkeys(paths, ""))
    needed = {
        path: visible.sources[path]
        for path in paths
        if within(os.path.realpath(sys.executable), visible.sources[path])
    }
    minimal.sources.update(needed)
    if _find_failure(make(minimal), network=False) is not None:
        return {}
    reasons: dict[str, str] = {}
    for path in paths:
        candidate = VisiblePaths({**minimal.sources, path: visible.sources[path]})
        failure = _find_failure(make(candidate), network=False)
        if failure is not None:
            reasons[path] = f"the sandbox cannot show it: {failure}"
    return reasons


def _find_failure(sandbox: Sandbox, *, network: bool) -> str | None:
    """Return why no program runs in the sandbox, or None if it works."""
    with (
        tempfile.TemporaryDirectory(prefix="sluice-") as out,
        open(os.devnull, "r+b") as null_device,
    ):
        instance = SandboxInstance(sandbox, [out], SandboxOptions(network=network))
        output = os.open(out, os.O_TMPFILE | os.O_RDWR)
        try:
            program = instance.start(
                [*_PROBE, *sandbox.shown],
                environment={"PATH": os.defpath},
                folder="/tmp",  # noqa: S108 - the program's own
                streams=[output, null_device.fileno()],
                limits=ProcessLimits(),
                view=View([VisibleFile("/tmp", out, writable=True)]),  # noqa: S108
            )
            status = program.end().status
            hidden = os.pread(output, 1 << 12, 0).decode(errors="replace")
        except SandboxError as error:
            return str(error)
        except OSError as error:
            return os_error_sentence(error)
        finally:
            os.close(output)
            instance.close()
    if hidden:
        return f"{hidden.splitlines()[0]} cannot be read in it"
    return f"{quoted(_PROBE[0])} ended with status {status}" if status else None


def _create_sandbox(
    bubblewrap: str, settings: str, visible: VisiblePaths, *, hidden_paths: Sequence[str]
) -> Sandbox:
    masks = visible.masks(hidden_paths)
    mounted_for_jobs = {
        path: source
        for path, source in visible.sources.items()
        if any(within(path, place) for place in (*_OWN_OF_JOBS, *masks))
    }
    return Sandbox(
        bubblewrap=bubblewrap,
        system=_list_system_mounts(settings, visible.sources),
        tool_root_paths=[
            ToolRootPath(path=path, source=mounted_for_jobs.get(path, ""))
            for path in sorted({*mounted_for_jobs, *masks})
        ],
        dropped=visible.dropped_paths,
        shown=[path for path in visible.sources if path not in SYSTEM],
    )


def _list_system_mounts(settings: str, sources: Mapping[str, str]) -> list[MountPoint]:
    """Return the mount points that every program sees besides the files of its job."""
    mounts = [_create_read_mount(path, sources[path]) for path in sorted(sources)]
    in_memory = [point for point in mounts if within(point.path, _SHARED_MEMORY)]
    return [
        *(point for point in mounts if point not in in_memory),
        MountPoint(kind=MountKind.READ, path="/etc", source=settings),
        MountPoint(kind=MountKind.DEVICES, path="/dev"),
        MountPoint(kind=MountKind.MEMORY, path=_SHARED_MEMORY),
        *in_memory,
        MountPoint(kind=MountKind.PROCESSES, path="/proc"),
        *(mask for path in (*_KEYS, *_list_root_only_paths()) for mask in _list_masks(path)),
        *(
            MountPoint(kind=MountKind.FOLDER, path=path)
            for path in ("/tmp", "/var/tmp", "/run")  # noqa: S108
        ),
    ]


def _create_read_mount(path: str, source: str) -> MountPoint:
    """Return the mount point that makes a path visible.

    Links between folders of the system stay links.
    """
    if path in SYSTEM and os.path.islink(path):
        return MountPoint(kind=MountKind.LINK, path=path, source=os.readlink(path))
    return MountPoint(kind=MountKind.READ, path=path, source=source)


def _list_root_only_paths() -> Iterator[str]:
    """Yield the paths in /proc that only root can read, except those of processes.

    Tools of a pilot that runs as root could read them.
    """
    for folder, folders, files in os.walk("/proc"):
        if folder == "/proc":
            folders[:] = [n for n in folders if not n.isdigit() and n not in _UNMASKED]
        private = [n for n in (*folders, *files) if _is_private(os.path.join(folder, n))]
        folders[:] = [name for name in folders if name not in private]
        yield from (os.path.join(folder, name) for name in private)


def _is_private(path: str) -> bool:
    """Return whether the owner can read a file that others cannot read."""
    mode = os.lstat(path).st_mode
    return bool(mode & stat.S_IRUSR) and not mode & stat.S_IROTH


def _list_masks(path: str) -> list[MountPoint]:
    """Return the mount points that hide a file or folder, none if it does not exist."""
    if os.path.isdir(path):
        return [MountPoint(kind=kind, path=path) for kind in (MountKind.MEMORY, MountKind.CLOSED)]
    if os.path.exists(path):
        return [MountPoint(kind=MountKind.READ, path=path, source=os.devnull)]
    return []
