"""Contents of a folder that a user names, without hidden files and links to the outside."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sluice.clientkit.output import err
from sluice.contracts.common.numbers import format_count
from sluice.text.visible_text import shown_path

#: The number of paths that a message names before "…".
_MAX_NAMED_PATHS = 3


@dataclass(slots=True)
class FolderContents:
    """The contents of a folder, in order of name.

    Attributes:
        files: Everything that is not a folder, including links to nothing.
        skipped_folders: Subfolders that were not entered.
        hidden_files: Files and folders whose names begin with a dot. The folders were not entered.
        outside_links: Links to files outside and, if subfolders are entered, to folders outside.
    """

    files: list[Path] = field(default_factory=list)
    skipped_folders: list[Path] = field(default_factory=list)
    hidden_files: list[Path] = field(default_factory=list)
    outside_links: list[Path] = field(default_factory=list)


def is_hidden(name: str) -> bool:
    """Return whether a file of this name is hidden (``.DS_Store``, ``._x``)."""
    return name.startswith(".")


def list_folder(folder: Path, *, recursive: bool) -> FolderContents:
    """Return the contents of a folder.

    Links to folders are not followed, because they may lead in a circle.

    Args:
        folder: The folder, which no link may lead out of.
        recursive: Whether to enter subfolders.
    """
    contents = FolderContents()
    _add(contents, folder, os.path.realpath(folder), recursive=recursive)
    return contents


def _add(contents: FolderContents, folder: Path, root: str, *, recursive: bool) -> None:
    for path in sorted(folder.iterdir()):
        is_link, is_folder = path.is_symlink(), path.is_dir()
        if is_hidden(path.name):
            contents.hidden_files.append(path)
        elif is_link and (recursive or not is_folder) and not _is_inside(path, root):
            contents.outside_links.append(path)
        elif not is_folder:
            contents.files.append(path)
        elif recursive and not is_link:
            _add(contents, path, root, recursive=True)
        else:
            contents.skipped_folders.append(path)


def _is_inside(path: Path, root: str) -> bool:
    target = os.path.realpath(path)
    return os.path.commonpath([target, root]) == root


def format_paths(paths: Sequence[Path]) -> str:
    """Return the first few paths, for a message."""
    return ", ".join(map(shown_path, paths[:_MAX_NAMED_PATHS])) + (
        " …" if len(paths) > _MAX_NAMED_PATHS else ""
    )


def print_hidden(hidden_files: Sequence[Path]) -> None:
    """Print how many hidden files and folders are left out."""
    if hidden_files:
        number = len(hidden_files)
        count = f"{format_count(number, 'hidden file')} {'is' if number == 1 else 'are'}"
        err.print(f"{count} left out: {format_paths(hidden_files)} (name a file itself to take it)")
