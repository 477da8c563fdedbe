"""Corruptions of files on a copy of the storages, by the check that must find them."""

from pathlib import Path


def delete_file(folder: Path) -> None:
    next((folder / "output").rglob("*.digests")).unlink()


def truncate_file(folder: Path) -> None:
    path = next((folder / "logs").rglob("*.log"))
    path.write_bytes(path.read_bytes()[:-1])


def flip_byte(folder: Path) -> None:
    path = next((folder / "output").rglob("*.root"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def add_dark_file(folder: Path) -> None:
    (folder / "intermediate" / "left").write_text("by an attempt that lost")


FILE_CORRUPTIONS = {
    "files intact": [delete_file, truncate_file, flip_byte],
    "no dark files": [add_dark_file],
}
