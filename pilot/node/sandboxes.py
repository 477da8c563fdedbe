"""The sandbox that this node has for tools, found by trying it."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import structlog

from pilot.node.system_files import copy_settings, system_paths, within
from pilot.sandbox.bubblewrap import MountKind, MountPoint, to_read
from pilot.sandbox.held_sandbox import HeldSandbox, SandboxError
from pilot.sandbox.network import UserNetwork
from pilot.sandbox.process_limits import ProcessLimits
from pilot.sandbox.sandbox import Extras, Sandbox, SandboxUse
from pilot.sandbox.view import SeenFile, View

log = structlog.get_logger(__name__)

#: What they tell of keys is of all of the user's. Nobody can open them then.
_KEYS = ("/proc/keys", "/proc/key-users")
#: Settings, which only change with rights that no tool has, and what comes and goes with devices:
#: folders of /proc where nothing can be masked for good.
_UNMASKED = ("sys", "irq")
#: What is run in a sandbox to see that it works.
_PROBE = "true"


class NoSandboxError(Exception):
    """The pilot is to have a sandbox, and this node has none: a sentence."""


def with_network(sandbox: Sandbox, use: SandboxUse, allowed: Sequence[str]) -> Sandbox:
    """The sandbox, with a network for tools that ask for one, if it can be had. ``allowed``: see
    ``UserNetwork``."""
    program = shutil.which("slirp4netns")
    why = "there is no slirp4netns on this node's PATH"
    if program is not None:
        network = UserNetwork(program=program, allowed=list(allowed))
        found = sandbox.model_copy(update={"network": network})
        failure = _failure(found, network=True)
        if failure is None:
            return found
        why = f"slirp4netns does not work on this node: {failure}"
    log.warning("sandbox.no_network", reason=why)
    return sandbox.model_copy(update={"no_network": why, "node_network": use != "required"})


def find_sandbox(
    use: SandboxUse, folder: Path, more: Sequence[Path], *, hidden: Path
) -> Sandbox | str:
    """The sandbox; or a sentence why there is none. ``folder``: made, for files that all tools
    see. ``more``: paths that they see as well. ``hidden``: a folder that they do not see, wherever
    it is. Raises ``NoSandboxError``, ``OSError``."""
    if use == "off":
        return "the pilot's sandbox is switched off"
    found = _tried(folder, [str(path) for path in more], hidden)
    if isinstance(found, Sandbox):
        log.info("sandbox.found", kind="namespaces", bubblewrap=found.bubblewrap)
        return found
    if use == "required":
        raise NoSandboxError(
            f"SLUICE_PILOT_SANDBOX is required, and {found}; see to that (what a node needs:"
            " docs/how-to/contain-tools.md), or set it to preferred, to run tools without"
        )
    return found


def _tried(folder: Path, more: Sequence[str], hidden: Path) -> Sandbox | str:
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        return "there is no bubblewrap (bwrap) on this node's PATH"
    settings = folder / "etc"
    copy_settings(settings, more)
    sandbox = Sandbox(bubblewrap=bubblewrap, system=_system(str(settings), more, str(hidden)))
    failure = _failure(sandbox, network=False)
    return sandbox if failure is None else f"the sandbox does not work on this node: {failure}"


def _failure(sandbox: Sandbox, *, network: bool) -> str | None:
    """Why nothing can be run in it; None: it works."""
    with tempfile.TemporaryDirectory(prefix="sluice-") as out, open(os.devnull, "r+b") as nothing:
        held = HeldSandbox(sandbox, [out], Extras(network=network))
        try:
            program = held.start(
                [_PROBE],
                environment={"PATH": os.environ.get("PATH", os.defpath)},
                folder="/tmp",  # noqa: S108 - the program's own
                streams=[nothing.fileno()] * 2,
                limits=ProcessLimits(),
                view=View([SeenFile("/tmp", out, writable=True)]),  # noqa: S108
            )
            status = program.end().status
        except (SandboxError, OSError) as error:
            return str(error)
        finally:
            held.close()
    return f"{_PROBE!r} ended with status {status}" if status else None


def _system(settings: str, more: Sequence[str], hidden: str) -> list[MountPoint]:
    """What every program sees beside its job's files."""
    paths = system_paths(os.environ.get("PATH", os.defpath), more)
    memory = ["/dev/shm"]  # noqa: S108 - the program's own
    hidden = os.path.realpath(hidden)
    if any(within(hidden, path) for path in paths):
        memory.append(hidden)
    return [
        *to_read(path for path in paths if not path.startswith("/etc/")),
        MountPoint(kind=MountKind.READ, path="/etc", source=settings),
        MountPoint(kind=MountKind.DEVICES, path="/dev"),
        *(MountPoint(kind=MountKind.MEMORY, path=path) for path in memory),
        MountPoint(kind=MountKind.PROCESSES, path="/proc"),
        *(mask for path in (*_KEYS, *_of_root_alone()) for mask in _masks(path)),
        *(
            MountPoint(kind=MountKind.FOLDER, path=path)
            for path in ("/tmp", "/var/tmp", "/run")  # noqa: S108
        ),
    ]


def _of_root_alone() -> Iterator[str]:
    """Paths in /proc, beside those of processes. Tools of a pilot that is root could read them."""
    for folder, folders, files in os.walk("/proc"):
        if folder == "/proc":
            folders[:] = [n for n in folders if not n.isdigit() and n not in _UNMASKED]
        private = [n for n in (*folders, *files) if _is_private(os.path.join(folder, n))]
        folders[:] = [name for name in folders if name not in private]
        yield from (os.path.join(folder, name) for name in private)


def _is_private(path: str) -> bool:
    """Can it be read, but not by everybody?"""
    mode = os.lstat(path).st_mode
    return bool(mode & stat.S_IRUSR) and not mode & stat.S_IROTH


def _masks(path: str) -> list[MountPoint]:
    """What hides a file or folder, if it is there."""
    if os.path.isdir(path):
        return [MountPoint(kind=kind, path=path) for kind in (MountKind.MEMORY, MountKind.CLOSED)]
    if os.path.exists(path):
        return [MountPoint(kind=MountKind.READ, path=path, source=os.devnull)]
    return []
