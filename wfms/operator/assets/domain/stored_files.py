"""Comparison of the announced files of a draft with the files that its data set has."""

from collections.abc import Iterable, Sequence

from sluice.contracts.data.asset_refs import file_name_of, path_of
from sluice.contracts.data.assets import AssetFile, NewAssetFile
from sluice.contracts.data.datasets import File
from sluice.text.visible_text import quoted

#: A file as it was announced, or as the version has it.
AnnouncedFile = NewAssetFile | AssetFile


def is_equal(announced_file: AnnouncedFile, file: File) -> bool:
    """Return whether a stored file has the announced name, size and checksum.

    A file without an announced checksum has no checksum until it was completed.
    """
    return (
        file.name == file_name_of(announced_file.path)
        and file.size == announced_file.size
        and announced_file.checksum in {None, file.checksum}
    )


def list_differences(announced_files: Sequence[AnnouncedFile], files: Iterable[File]) -> list[str]:
    """Return what is wrong with the stored files, which need not be complete, in words."""
    by_name = {file_name_of(announced.path): announced for announced in announced_files}
    differences: list[str] = []
    for file in files:
        path, announced = quoted(path_of(file.name)), by_name.get(file.name)
        if announced is None:
            differences.append(f"{path} was not announced")
        elif file.size != announced.size:
            differences.append(f"{path} has {file.size} bytes instead of {announced.size}")
        elif not is_equal(announced, file):
            differences.append(f"{path} has another checksum")
    return differences
