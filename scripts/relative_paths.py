"""Make the folders in the ``.pth`` files of editable packages relative to ``site-packages``.

Python reads these files in the encoding of the locale, which is ASCII with ``LC_ALL=C``. A relative
path has no letters of the clone's path. Run it in the clone, whose environment is ``.venv``.
"""

import os
import sys

#: From ``.venv/lib/python3.*/site-packages`` to the clone.
_CLONE = "../../../.."


def make_relative(folder: str) -> str:
    """Return the path from ``site-packages`` to a folder of the clone.

    An earlier installation has already written the paths of packages that have not changed since.
    """
    if not os.path.isabs(folder):
        return folder
    return f"{_CLONE}/{os.path.relpath(os.path.realpath(folder))}"


def main(names: list[str]) -> None:
    """Rewrite the files."""
    for name in names:
        with open(name, "r+", encoding="utf-8") as file:
            folders = [make_relative(line.rstrip("\n")) for line in file]
            file.seek(0)
            file.truncate()
            file.writelines(f"{folder}\n" for folder in folders)


if __name__ == "__main__":
    main(sys.argv[1:])
