"""References of a document to other files."""

from collections.abc import Iterator
from typing import Any

from sluice.cwl.reading.files import FileRefused, UploadedFiles
from sluice.cwl.reading.nodes import mappings


def file_references(root: Any) -> Iterator[str]:
    """Yield what the document refers to, without the fragments."""
    for node in mappings(root):
        for key in ("run", "$import", "$include"):
            name = node.get(key)
            if isinstance(name, str) and not name.startswith("#"):
                yield name.partition("#")[0]


def referenced_files(key: str, root: Any, files: UploadedFiles) -> Iterator[str]:
    """Yield the keys of the files that a document refers to, without refused references.

    Args:
        key: The key of the document's file.
        root: The document.
        files: The files.
    """
    for name in file_references(root):
        try:
            yield files.find(key, name)
        except FileRefused:
            continue
