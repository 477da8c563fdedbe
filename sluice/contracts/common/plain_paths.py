"""Plain paths, which mean the same to every reader. Paths below a storage's URL are plain."""

from urllib.parse import unquote

#: Maximum number of times that a path is decoded. A path with more nested escapes is refused.
MAX_UNQUOTED = 4
_UNPLAIN = frozenset({"", ".", ".."})


def stays_inside(path: str) -> bool:
    """Return whether a path is plain, as it is and with percent escapes decoded.

    A plain path has no empty part, no ``.`` or ``..``, no ``::`` and no NUL.
    """
    for _ in range(MAX_UNQUOTED):
        if (
            "\x00" in path
            or "::" in path
            or not _UNPLAIN.isdisjoint(path.replace("\\", "/").split("/"))
        ):
            return False
        undone = unquote(path)
        if undone == path:
            return True
        path = undone
    return False
