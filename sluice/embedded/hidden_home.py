"""Whether the home folder of a system lies in what its tools may read."""

import json
import os
import shutil
from pathlib import Path

from sluice.visible_paths import SYSTEM, visible_paths, within


class VisibleHomeError(OSError):
    """Tools would see the folder that the home lies in."""


def require_hidden(home: Path) -> None:
    """Make sure that tools in the sandbox do not see the folder around ``home``.

    In folders of the system such as ``/opt`` every pilot masks its system's home. A folder with
    programs that somebody chose is another matter: it is a mistake that is mended here.

    Raises:
        VisibleHomeError: They would see it.
    """
    if os.environ.get("SLUICE_PILOT_SANDBOX") == "off" or shutil.which("bwrap") is None:
        return
    search_path = os.environ.get("PATH", os.defpath)
    shown = visible_paths(search_path, _added_paths(), hidden=[str(home)]).shows(str(home))
    if shown is None or any(within(shown, folder) for folder in SYSTEM):
        return
    raise VisibleHomeError(
        f"the home folder {home} lies in {shown}, which tools may read as it has programs: choose"
        " another one (--home), or move the programs (PATH, SLUICE_PILOT_SANDBOX_PATHS, Python's"
        " environment)"
    )


def _added_paths() -> list[str]:
    """Return what the pilots' settings add; what is wrong there they say themselves."""
    try:
        told = json.loads(os.environ.get("SLUICE_PILOT_SANDBOX_PATHS", "[]"))
    except ValueError:
        return []
    return list(map(str, told)) if isinstance(told, list) else []
