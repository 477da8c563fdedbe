"""Isolation of the home folder and the storages of a system from its tools."""

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sluice.storage import find_local_path
from sluice.tools.visible_paths import SYSTEM, VisiblePaths, visible_paths, within


class VisibleHomeError(OSError):
    """The home folder is in a folder that tools can see."""


def require_hidden(home: Path) -> None:
    """Check that tools in the sandbox do not see the folder around ``home``.

    In system folders such as ``/opt`` every pilot masks the home of its system. A user-chosen
    folder of programs must not contain the home, and the user has to correct this.

    Raises:
        VisibleHomeError: Tools would see the folder.
    """
    visible = _visible(home).shows(str(home))
    if visible is None or any(within(visible, folder) for folder in SYSTEM):
        return
    raise VisibleHomeError(
        f"the home folder {home} is in {visible}, which tools may read as it has programs: choose"
        " another one (--home), or move the programs (PATH, SLUICE_PILOT_SANDBOX_PATHS, Python's"
        " environment)"
    )


@dataclass(frozen=True, slots=True)
class StoragePlaces:
    """Folders for storages.

    ``hidden_folders`` has folders that pilots hide from tools. ``excluded_folders`` has real
    folders that tools see, where no storage may be added while the system runs.
    """

    hidden_folders: list[Path] = field(default_factory=list)
    excluded_folders: list[str] = field(default_factory=list)


def storage_places(home: Path, roots: Sequence[str]) -> StoragePlaces:
    """Decide how storages that are added later stay hidden from tools.

    Pilots learn at their start what to hide. A folder for storages inside what tools see is
    therefore hidden from the start, even without a storage in it. No storage may be added elsewhere
    in what tools see.

    Args:
        home: The home folder.
        roots: URLs of the places where storages may be.
    """
    visible_folders = [
        path for path in dict.fromkeys(_visible(home).sources.values()) if os.path.isdir(path)
    ]
    local = [
        os.path.realpath(path) for root in roots if (path := find_local_path(root)) is not None
    ]
    visible_roots = [
        root
        for root in local
        if any(root != path and within(root, path) for path in visible_folders)
    ]
    existing_roots = [root for root in visible_roots if os.path.isdir(root)]
    return StoragePlaces(
        hidden_folders=[Path(root) for root in existing_roots],
        excluded_folders=[
            *visible_folders,
            *(root for root in visible_roots if root not in existing_roots),
        ],
    )


def _visible(home: Path) -> VisiblePaths:
    """Return what tools see in the sandbox, or nothing without a sandbox."""
    if os.environ.get("SLUICE_PILOT_SANDBOX") == "off" or shutil.which("bwrap") is None:
        return VisiblePaths()
    search_path = os.environ.get("PATH", os.defpath)
    return visible_paths(search_path, _added_paths(), hidden_paths=[str(home)])


def _added_paths() -> list[str]:
    """Return the paths that the pilots' settings add. Pilots report errors in them."""
    try:
        paths = json.loads(os.environ.get("SLUICE_PILOT_SANDBOX_PATHS", "[]"))
    except ValueError:
        return []
    return list(map(str, paths)) if isinstance(paths, list) else []
