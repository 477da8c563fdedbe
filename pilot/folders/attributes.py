"""Extended attributes of files."""

import os


def list_attributes(path: str | int) -> list[str]:
    """Return the names of a file's extended attributes.

    A link is not followed. The list is empty if the file system has no extended attributes.
    """
    try:
        return os.listxattr(path, follow_symlinks=isinstance(path, int))
    except OSError:  # The file system has no extended attributes.
        return []
