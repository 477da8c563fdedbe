"""Paths that mean the same to whoever reads them: what may be below a storage's URL."""

from urllib.parse import unquote

#: Escapes inside escapes are undone as often as this; a path with more is refused.
MOST_UNQUOTED = 4
_UNPLAIN = frozenset({"", ".", ".."})


def stays_inside(path: str) -> bool:
    """Is it a plain path, as written and with per-cent escapes undone: no ``.`` or ``..``, no empty
    part, no second protocol?"""
    for _ in range(MOST_UNQUOTED):
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
