"""The files of a machine that tools in a sandbox may read beside those of their jobs.

They are the system's files, programs on the search path, and Sluice's own installation.
"""

import os
import pwd
import site
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sluice.text.os_errors import reason_of

#: The top folders of systems. Some are links to others.
SYSTEM = ("/usr", "/opt", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
#: The kernel's information about processors, which libraries read.
_PROCESSORS = "/sys/devices/system"
#: Folders that belong to the programs in a sibling folder.
_PROGRAM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libexec")
#: Folders with files of jobs, people or services, which are never visible as a whole.
_SHARED = (
    "/boot",
    "/dev",
    "/dev/shm",  # noqa: S108
    "/etc",
    "/home",
    "/media",
    "/mnt",
    "/proc",
    "/root",
    "/run",
    "/srv",
    "/sys",
    "/tmp",  # noqa: S108
    "/var/lib",
    "/var/tmp",  # noqa: S108
)
#: A sandbox has its own folders at these paths, so nothing in them is visible by its name.
_OWN_OF_SANDBOXES = ("/dev", "/etc", "/proc", "/sys")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108
#: The most links that are followed from folders with programs to files elsewhere.
_MAX_LINKS = 500


@dataclass(slots=True)
class VisiblePaths:
    """The paths that tools see.

    Attributes:
        sources: By path, the file or folder without links that tools see there.
        dropped_paths: Why tools do not see a path, by entry of the search path or path of Sluice.
    """

    sources: dict[str, str] = field(default_factory=dict)
    dropped_paths: dict[str, str] = field(default_factory=dict)

    def shows(self, path: str) -> str | None:
        """Return the path that makes the real path ``path`` visible, or None."""
        return next(
            (visible_path for visible_path, real in self.sources.items() if within(path, real)),
            None,
        )

    def masks(self, hidden_paths: Iterable[str]) -> list[str]:
        """Return the outermost paths where tools would see the real paths ``hidden_paths``.

        What is inside a mask is hidden already, unless it is made visible again.
        """
        candidates = {
            visible_path + path[len(real) :]
            for path in hidden_paths
            for visible_path, real in self.sources.items()
            if path != real and within(path, real)
        }
        return sorted(
            path for path in candidates if self._innermost_above(path, candidates) not in candidates
        )

    def _innermost_above(self, path: str, masks: Iterable[str]) -> str:
        """Return the innermost visible path or mask that contains ``path``."""
        candidates = (*self.sources, *masks)
        return max(
            (
                candidate
                for candidate in candidates
                if candidate != path and within(path, candidate)
            ),
            key=len,
        )

    def without(self, paths_to_drop: dict[str, str]) -> "VisiblePaths":
        """Return the visible paths without some paths. ``paths_to_drop`` has a reason for each."""
        remaining = {path: real for path, real in self.sources.items() if path not in paths_to_drop}
        return VisiblePaths(remaining, {**self.dropped_paths, **paths_to_drop})


def visible_paths(
    search_path: str, more_paths: Iterable[str] = (), *, hidden_paths: Sequence[str] = ()
) -> VisiblePaths:
    """Choose what tools may see.

    Args:
        search_path: Folders with programs, as in ``PATH``.
        more_paths: Paths that an operator adds.
        hidden_paths: Real paths in which tools see only Sluice's own installation.
    """
    visible = VisiblePaths()
    for path in (*SYSTEM, _PROCESSORS):
        if os.path.lexists(path):
            _add(visible, path, hidden_paths)
    for path in (*_installation(), *more_paths):
        _add_checked(visible, path, hidden_paths, needed_by=path)
    folders: list[str] = []
    for entry in dict.fromkeys(search_path.split(os.pathsep)):
        why = _describe_entry_problem(entry, hidden_paths)
        if why is None:
            folders.append(os.path.realpath(entry) if ".." in entry.split("/") else entry)
        elif why:
            visible.dropped_paths[entry or "''"] = why
    for folder in folders:
        for path in (*_programs_in(folder), *_programs_in(os.path.realpath(folder))):
            _add_checked(visible, path, hidden_paths, needed_by=folder)
    _follow_links(visible, [*folders, os.path.dirname(sys.executable)], hidden_paths)
    return visible


def absolute_entries(search_path: str) -> str:
    """Return the search path without entries that depend on the current folder."""
    return os.pathsep.join(filter(os.path.isabs, search_path.split(os.pathsep))) or os.defpath


def describe_invisibility(path: str) -> str | None:
    """Return why tools can never see ``path``, or None if they can."""
    if not path.isprintable() and "\udcff" >= max(path) >= "\udc80":
        return "its name is not valid UTF-8: rename it"
    if any(within(shared, path) for shared in (*_SHARED, *_private_folders())):
        return "it holds files of others beside programs: move the programs to a separate folder"
    if within(path, _SHARED_MEMORY):
        return None
    place = next((place for place in _OWN_OF_SANDBOXES if within(path, place)), None)
    return place and f"tools have their own {place}: move it elsewhere"


def within(path: str, folder: str) -> bool:
    """Return whether ``path`` is the folder or is inside it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _describe_entry_problem(entry: str, hidden_paths: Sequence[str]) -> str | None:
    """Return why an entry of the search path is dropped.

    It is None for a usable entry, and empty if the reason does not matter.
    """
    if not os.path.isabs(entry):
        return "it depends on the folder that a process works in: give an absolute path"
    real = os.path.realpath(entry)
    closed = next((path for path in hidden_paths if within(real, path)), None)
    if closed is not None and not any(
        within(real, os.path.realpath(own)) for own in _installation()
    ):
        return f"it is in {closed}, of which tools see nothing: move the programs elsewhere"
    try:
        os.scandir(entry).close()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return f"it cannot be read: {reason_of(error)}"
    if base_name(real) in _PROGRAM_FOLDERS:
        return None
    return describe_invisibility(real)


def base_name(path: str) -> str:
    """Return the last part of a path."""
    return os.path.basename(path.rstrip("/"))


def _add_checked(
    visible: VisiblePaths, path: str, hidden_paths: Sequence[str], *, needed_by: str
) -> None:
    """Make ``path`` visible, or record why not under the name of what needs it."""
    if not os.path.lexists(path) or within(path, "/etc"):
        return
    real = os.path.realpath(path)
    why = describe_invisibility(path) or describe_invisibility(real)
    if real in hidden_paths:
        why = "it holds what tools must not see: move the programs elsewhere"
    if why is None:
        _add(visible, path, hidden_paths)
    else:
        visible.dropped_paths[needed_by] = why


def _add(visible: VisiblePaths, path: str, hidden_paths: Sequence[str]) -> None:
    """Make ``path`` visible by its name and by its name without links."""
    real = os.path.realpath(path)
    for new_path in dict.fromkeys((real, path)):
        covering = next(
            (known_path for known_path in visible.sources if within(new_path, known_path)), None
        )
        if covering is not None and not any(
            within(real, path) and within(path, visible.sources[covering]) for path in hidden_paths
        ):
            continue
        for known_path in [
            known_path for known_path in visible.sources if within(known_path, new_path)
        ]:
            del visible.sources[known_path]
        visible.sources[new_path] = real


def _installation() -> list[str]:
    """Return the paths of Python and of all that is installed with Sluice (pipeline packs)."""
    installed = site.getsitepackages()
    return [
        *(
            path
            for prefix in dict.fromkeys((sys.prefix, sys.base_prefix))
            for path in _environment_parts(prefix)
        ),
        *(
            package
            for path in map(os.path.abspath, filter(None, sys.path))
            # In the folder of an editable installation, tools see only the packages.
            if os.path.isdir(path) and not any(within(path, place) for place in installed)
            for package in _packages(path)
        ),
    ]


def _packages(folder: str) -> Iterator[str]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if os.path.isfile(f"{entry.path}/__init__.py"):
            yield entry.path


def _private_folders() -> Iterator[str]:
    """Yield the home folder and the temporary folder of this process's user."""
    yield os.path.realpath(tempfile.gettempdir())
    home = os.environ.get("HOME") or _user_home()
    if os.path.isabs(home) and home != "/":
        yield os.path.realpath(home)


def _user_home() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""


def _programs_in(folder: str) -> list[str]:
    """Return the paths that the programs in a folder need.

    They are an environment as a whole, or the folders beside the folder of programs.
    """
    above, name = os.path.split(folder.rstrip("/"))
    if os.path.isfile(f"{above}/pyvenv.cfg") or os.path.isdir(f"{above}/conda-meta"):
        return _environment_parts(above)
    if name in _PROGRAM_FOLDERS and above != "/":
        return _sibling_folders(above)
    return [folder]


def _environment_parts(prefix: str) -> list[str]:
    """Return an environment, or its parts if its folder has other things, too."""
    return _sibling_folders(prefix) if describe_invisibility(os.path.realpath(prefix)) else [prefix]


def _sibling_folders(prefix: str) -> list[str]:
    return [
        path for part in _PROGRAM_FOLDERS if os.path.isdir(path := f"{prefix.rstrip('/')}/{part}")
    ]


def _follow_links(
    visible: VisiblePaths, folders: Iterable[str], hidden_paths: Sequence[str]
) -> None:
    """Make the targets of links in folders with programs visible."""
    links = (link for folder in dict.fromkeys(folders) for link in _links_out(folder))
    for number, (link, target) in enumerate(links):
        if number == _MAX_LINKS:
            visible.dropped_paths[link] = (
                f"it is one of more than {_MAX_LINKS} links to other folders"
            )
            return
        if any(within(target, path) for path in hidden_paths) or _is_visible(visible, target):
            continue
        folder = os.path.dirname(target)
        is_one_of_many = base_name(folder) in _PROGRAM_FOLDERS
        for path in _programs_in(folder) if is_one_of_many else [target]:
            _add_checked(visible, path, hidden_paths, needed_by=link)


def _links_out(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the links in a folder that lead to files elsewhere.

    Each comes with the path that it names and with its final target.
    """
    if any(within(os.path.realpath(folder), place) for place in SYSTEM):
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink() and os.path.isfile(entry.path):
            direct_target = os.path.normpath(os.path.join(folder, os.readlink(entry.path)))
            for target in dict.fromkeys((direct_target, os.path.realpath(entry.path))):
                if os.path.exists(target) and os.path.dirname(target) != folder:
                    yield entry.path, target


def _is_visible(visible: VisiblePaths, path: str) -> bool:
    return any(within(path, visible_path) for visible_path in visible.sources)
