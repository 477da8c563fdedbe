"""Packs a template's files into a zip to be downloaded."""

import io
import zipfile
from collections.abc import Mapping


def zip_of(files: Mapping[str, str]) -> io.BytesIO:
    """The files byte for byte, and the same zip for the same files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path)  # of 1980: a time would make every zip another one
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[path], compress_type=zipfile.ZIP_DEFLATED)
    data.seek(0)
    return data
