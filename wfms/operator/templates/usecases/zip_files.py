"""Zip archives of template files for download."""

import io
import zipfile
from collections.abc import Mapping


def zip_files(files: Mapping[str, str]) -> io.BytesIO:
    """Return an archive of the files that is identical for identical files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path)  # the default date of 1980 keeps archives identical
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[path], compress_type=zipfile.ZIP_DEFLATED)
    data.seek(0)
    return data
