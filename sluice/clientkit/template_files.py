"""Files of a template: the workflow's file, several files, a folder or a zip."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sluice.contracts.templates.templates import NewTemplate

if TYPE_CHECKING:
    from sluice.cwl import Upload


@dataclass(frozen=True, slots=True)
class TemplateFiles:
    """The files of a template.

    ``name`` is the default name of the template. ``root`` is the folder of the files, and empty for
    a zip.
    """

    name: str
    upload: "Upload"
    root: str

    def new(self, name: str | None) -> NewTemplate:
        """Return the request that stores the template, by default by its own name."""
        return NewTemplate(name=name or self.name, files=self.upload.texts, main=self.upload.main)

    def display_path(self, path: str | None) -> str:
        """Return the path of a file as the user would write it."""
        return os.path.join(self.root, path) if path else self.root


def split_process(path: Path) -> tuple[Path, str | None]:
    """Return the path of a file, and the process in it that ``FILE#ID`` names, if any."""
    name, mark, process = path.name.rpartition("#")
    return (path, None) if not mark or path.exists() else (path.with_name(name), process)


def template_name(path: Path) -> str:
    """Return the default name of a template.

    ``spd/workflow.cwl`` becomes ``spd``, and ``clean.cwl`` becomes ``clean``: a file called
    workflow or main is named after its folder. ``packed.cwl#count`` becomes ``count``.
    """
    path, process = split_process(path)
    if process not in (None, "main"):
        return re.sub(r"[^A-Za-z0-9_.-]+", "-", str(process))
    stem = path.stem if path.stem not in {"workflow", "main"} else path.resolve().parent.name
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem) or "workflow"


def read_template_files(paths: Sequence[Path], *, main: str | None = None) -> TemplateFiles:
    """Read the files of a template.

    A single file brings the files that it refers to. Several files, a folder and a zip are taken as
    they are.

    Args:
        paths: The files, or one folder or zip. A single file may name a process (``FILE#ID``).
        main: The path of the workflow among the files.

    Raises:
        PackError: A file cannot be read, or a reference works on this disk only.
        UploadRefused: The files cannot be used as a template.
        OSError: A file cannot be read.
    """
    from sluice.cwl import gather_files, is_zip, take_files, unpack_zip  # noqa: PLC0415 - reading CWL takes long to import

    first, process = split_process(paths[0])
    if len(paths) > 1:
        root = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])
        files = {_relative_path(root, path): path.read_bytes() for path in paths}
        return TemplateFiles(
            template_name(Path(main) if main else first),
            take_files(files, main=main),
            os.path.relpath(root),
        )
    if first.is_dir():
        files = {
            _relative_path(first, path): path.read_bytes() for path in sorted(_plain_files(first))
        }
        return TemplateFiles(
            template_name(first.resolve() / "workflow"), take_files(files, main=main), str(first)
        )
    if is_zip(first.read_bytes()):
        return TemplateFiles(
            template_name(first), take_files(unpack_zip(first.read_bytes()), main=main), ""
        )
    main_path, texts = gather_files(first)
    root = os.path.normpath(
        os.path.join(os.path.dirname(first) or ".", *[".."] * main_path.count("/"))
    )
    return TemplateFiles(
        template_name(paths[0]),
        take_files(texts, main=f"{main_path}#{process}" if process else main_path),
        root if root != "." else "",
    )


def _relative_path(root: str | Path, path: Path) -> str:
    return Path(os.path.abspath(path)).relative_to(os.path.abspath(root)).as_posix()


def _plain_files(folder: Path) -> list[Path]:
    """Return the files in a folder.

    Hidden files and folders, and links that lead out of the folder, are left out.
    """
    paths = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths += [Path(parent, name) for name in names if not name.startswith(".")]
    return [
        path for path in paths if path.is_file() and path.resolve().is_relative_to(folder.resolve())
    ]
