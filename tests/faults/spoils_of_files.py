"""Corruptions of files on a copy of the storages, by the check that must find them."""

from pathlib import Path


def file_deleted(folder: Path) -> None:
    next((folder / "output").rglob("*.digests")).unlink()


def file_cut_short(folder: Path) -> None:
    path = next((folder / "logs").rglob("*.log"))
    path.write_bytes(path.read_bytes()[:-1])


def byte_flipped(folder: Path) -> None:
    path = next((folder / "output").rglob("*.root"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def dark_file(folder: Path) -> None:
    (folder / "intermediate" / "left").write_text("by an attempt that lost")


FILE_SPOILS = {
    "files intact": [file_deleted, file_cut_short, byte_flipped],
    "no dark files": [dark_file],
}
