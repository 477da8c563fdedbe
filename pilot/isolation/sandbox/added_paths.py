"""Checks of paths that an operator makes visible to tools."""

from pathlib import Path

from sluice.text.os_errors import reason_of
from sluice.tools.visible_paths import describe_invisibility


def why_hidden(path: Path, work_dir: Path) -> str | None:
    """Return why tools would not see ``path`` and what to do, or None if they see it.

    ``work_dir`` is the pilot's work folder, which tools never see.
    """
    if not path.is_absolute():
        return "it is not an absolute path: give one"
    try:
        real = path.resolve(strict=True)
    except OSError as error:
        return f"{reason_of(error)} on this node: mount or make it, or take it off the list"
    for place in dict.fromkeys((path, real)):
        leads = "" if place == path else f"leads to {place}, which "
        why = None if place.is_relative_to("/etc") else describe_invisibility(str(place))
        if why is not None:
            return f"it {leads}cannot be visible: {why}"
        if place.is_relative_to(work_dir.resolve()):
            return f"it {leads}is in the pilot's work folder: move it, or the work folder"
    return None
