"""Paths of a node that an operator lets tools see as well: can they be seen?"""

from pathlib import Path

#: Where tools see their job's own, or the kernel's, whatever the node has there.
_OF_THE_JOB = ("/tmp", "/dev", "/proc")  # noqa: S108 - the names that tools know


def why_hidden(path: Path, work_dir: Path) -> str | None:
    """Why tools would not see ``path``, and what to do; None: they see it. ``work_dir``: the
    pilot's, which they never see."""
    if not path.is_absolute():
        return "it is no absolute path: give one"
    try:
        real = path.resolve(strict=True)
    except OSError as error:
        return f"{error.strerror or error} on this node: mount or make it, or take it off the list"
    for place in dict.fromkeys((path, real)):
        leads = "" if place == path else f"leads to {place}, which "
        if any(place.is_relative_to(covered) for covered in _OF_THE_JOB):
            return f"it {leads}lies where each job has files of its own: move it elsewhere"
        if place.is_relative_to(work_dir.resolve()):
            return f"it {leads}lies in the pilot's work folder: move it, or the work folder"
    return None
