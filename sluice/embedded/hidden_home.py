"""Keeps the home folder and the storages of a system out of what its tools may read."""

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sluice.storage import local_path
from sluice.visible_paths import SYSTEM, VisiblePaths, visible_paths, within


class VisibleHomeError(OSError):
    """Tools would see the folder that the home lies in."""


def require_hidden(home: Path) -> None:
    """Make sure that tools in the sandbox do not see the folder around ``home``.

    In folders of the system such as ``/opt`` every pilot masks its system's home. A folder with
    programs that somebody chose is another matter: it is a mistake that is mended here.

    Raises:
        VisibleHomeError: They would see it.
    """
    shown = _visible(home).shows(str(home))
    if shown is None or any(within(shown, folder) for folder in SYSTEM):
        return
    raise VisibleHomeError(
        f"the home folder {home} lies in {shown}, which tools may read as it has programs: choose"
        " another one (--home), or move the programs (PATH, SLUICE_PILOT_SANDBOX_PATHS, Python's"
        " environment)"
    )


@dataclass(frozen=True, slots=True)
class StoragePlaces:
    """``hidden``: folders of storages that pilots hide from tools. ``excluded``: real folders that
    tools see, where no storage may be added while the system runs.
    """

    hidden: list[Path] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)


def storage_places(home: Path, roots: Sequence[str]) -> StoragePlaces:
    """Decide how storages that are added later stay hidden from tools.

    Pilots are told what to hide when they start. A folder for storages that lies in what tools see
    is hidden from the start, whether a storage is there or not. Anywhere else in what they see no
    storage may be added.

    Args:
        home: The home folder.
        roots: URLs of the places where storages may lie.
    """
    seen = [path for path in dict.fromkeys(_visible(home).sources.values()) if os.path.isdir(path)]
    local = [os.path.realpath(path) for root in roots if (path := local_path(root)) is not None]
    within_seen = [
        root for root in local if any(root != path and within(root, path) for path in seen)
    ]
    there = [root for root in within_seen if os.path.isdir(root)]
    return StoragePlaces(
        hidden=[Path(root) for root in there],
        excluded=[*seen, *(root for root in within_seen if root not in there)],
    )


def _visible(home: Path) -> VisiblePaths:
    """Return what tools see in the sandbox; nothing where there is no sandbox."""
    if os.environ.get("SLUICE_PILOT_SANDBOX") == "off" or shutil.which("bwrap") is None:
        return VisiblePaths()
    search_path = os.environ.get("PATH", os.defpath)
    return visible_paths(search_path, _added_paths(), hidden=[str(home)])


def _added_paths() -> list[str]:
    """Return what the pilots' settings add; what is wrong there they say themselves."""
    try:
        told = json.loads(os.environ.get("SLUICE_PILOT_SANDBOX_PATHS", "[]"))
    except ValueError:
        return []
    return list(map(str, told)) if isinstance(told, list) else []
