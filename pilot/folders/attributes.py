"""Extended attributes of files."""

import os


def attributes(path: str | int) -> list[str]:
    """Their names. ``path``: or a descriptor; a link's own."""
    try:
        return os.listxattr(path, follow_symlinks=isinstance(path, int))
    except OSError:  # not on this file system
        return []
