"""Uploaded files of a template, also as a zip.

Nothing is written to a disk. The size of a file is measured during unpacking, because headers may
be wrong.
"""

import io
import posixpath
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from sluice.contracts.common.problems import Finding, Unprocessable
from sluice.cwl.reading.files import UploadedFiles
from sluice.cwl.reading.yaml_text import MAX_BYTES

MAX_FILES = 500
#: The limit of all files together in bytes, unpacked.
MAX_TOTAL_BYTES = 8 * 1024 * 1024
MAX_NAME = 240
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


class UploadRefused(Unprocessable):
    """The files cannot be used as a template. ``findings`` say why, with the file if known."""

    slug, title = "template-files", "Invalid template files"

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings[:3]), findings=findings)


@dataclass(frozen=True, slots=True)
class Upload:
    """The files of a template.

    Attributes:
        texts: The texts by path.
        unusable: Files that are not text, with the reason. Their content is not kept.
        main: The path of the workflow, if the user gave it.
    """

    texts: dict[str, str]
    unusable: dict[str, str] = field(default_factory=dict)
    main: str | None = None

    @property
    def files(self) -> UploadedFiles:
        """The files, as the reader takes them."""
        return UploadedFiles(self.texts, self.unusable)


def is_zip(data: bytes) -> bool:
    """Return whether the data start like a zip."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def take_files(files: Mapping[str, bytes | str], *, main: str | None = None) -> Upload:
    """Check names and sizes of files. Hidden files (``.git/…``, ``.DS_Store``) are left out.

    Raises:
        UploadRefused: The files cannot be used.
    """
    errors = [
        Finding(message=reason, file=name[:MAX_NAME])
        for name in files
        if (reason := _name_problem(name))
    ]
    visible_files = {name: content for name, content in files.items() if not _is_hidden(name)}
    if len(visible_files) > MAX_FILES:
        errors.append(
            Finding(
                message=f"{len(visible_files)} files are too many for a template: at most"
                f" {MAX_FILES}"
            )
        )
    texts: dict[str, str] = {}
    unusable: dict[str, str] = {}
    total_bytes = 0
    for name, content in visible_files.items():
        decoded = _decode(content)
        total_bytes += decoded.size
        if decoded.text is None:
            unusable[name] = decoded.reason
        else:
            texts[name] = decoded.text
        if decoded.size > MAX_BYTES:
            errors.append(
                Finding(
                    message=f"{decoded.size} bytes are too many for a file: at most {MAX_BYTES}"
                    " (2 MiB)",
                    file=name,
                )
            )
    if total_bytes > MAX_TOTAL_BYTES:
        errors.append(
            Finding(
                message=f"the files are {total_bytes} bytes together: at most {MAX_TOTAL_BYTES}"
                " (8 MiB)"
            )
        )
    if not texts:
        errors += [
            Finding(message=f"the file {reason}", file=name, line=1, column=1)
            for name, reason in unusable.items()
        ]
    if not visible_files:
        errors.append(
            Finding(message="there is no file: send a CWL workflow and the files that it refers to")
        )
    if errors:
        raise UploadRefused(errors[:20])
    return Upload(texts, unusable, main)


def unpack_zip(data: bytes) -> dict[str, bytes]:
    """Return the files of a zip by path.

    Raises:
        UploadRefused: The zip cannot be used.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = [
                info
                for info in archive.infolist()
                if not info.filename.endswith("/") and not _is_hidden(info.filename)
            ]
            if len(infos) > MAX_FILES:
                raise _upload_error(f"the zip holds {len(infos)} files: at most {MAX_FILES}")
            findings = [
                Finding(message=reason, file=info.filename[:MAX_NAME])
                for info in infos
                if (reason := _entry_problem(info))
            ]
            findings += _find_duplicates(infos)
            if findings:
                raise UploadRefused(findings[:20])
            return _unpack_files(archive, infos)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        OSError,
    ) as error:
        raise _upload_error(f"the zip cannot be read: {error or type(error).__name__}") from error


def _unpack_files(archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    remaining_bytes = MAX_TOTAL_BYTES
    for info in infos:
        with archive.open(info) as member:
            data = member.read(min(remaining_bytes, MAX_BYTES) + 1)
        remaining_bytes -= len(data)
        if len(data) > MAX_BYTES:
            raise _upload_error(
                f"more than {MAX_BYTES} bytes (2 MiB) unpacked: too many for a file", info.filename
            )
        if remaining_bytes < 0:
            raise _upload_error(f"the files are more than {MAX_TOTAL_BYTES} bytes (8 MiB) unpacked")
        files[info.filename] = data
    return files


def _entry_problem(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a link: put the file itself into the zip"
    if kind not in (0, stat.S_IFREG):
        return "not a plain file"
    if info.flag_bits & 0x1:
        return "locked with a password"
    if info.compress_type not in _METHODS:
        return (
            "compressed in a way that is not read here: make the zip with 'deflate', which is what"
            " zip programs do"
        )
    # ZipInfo cuts a name at a NUL, and replaces the local path separator by slashes.
    return _name_problem(info.orig_filename)


def _find_duplicates(infos: list[zipfile.ZipInfo]) -> list[Finding]:
    names: set[str] = set()
    findings = []
    for info in infos:
        if info.filename in names:
            findings.append(Finding(message="twice in the zip", file=info.filename[:MAX_NAME]))
        names.add(info.filename)
    return findings


def _upload_error(message: str, file: str | None = None) -> UploadRefused:
    return UploadRefused([Finding(message=message, file=file)])


def _is_hidden(name: str) -> bool:
    """Return whether a file is hidden, or was added by an archive program."""
    parts = name.split("/")
    return parts[0] == "__MACOSX" or any(
        part.startswith(".") and part not in {".", ".."} for part in parts
    )


def _name_problem(name: str) -> str:
    if not name or len(name.encode(errors="replace")) > MAX_NAME:
        return f"a file's path has 1 to {MAX_NAME} bytes"
    if _UNPRINTABLE.search(name) or not _is_utf8(name):
        return "a file's path consists of printable characters"
    if "\\" in name:
        return "parts of a path are separated by '/', not by '\\'"
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return "an absolute path: paths are relative to the folder that holds all files"
    if posixpath.normpath(name) != name or name.startswith(".."):
        return "a path without '.', '..', '//' is expected"
    return ""


@dataclass(frozen=True, slots=True)
class _DecodedFile:
    """A decoded file. ``size`` is in bytes. ``reason`` says why ``text`` is None."""

    size: int
    text: str | None = None
    reason: str = ""


def _decode(content: bytes | str) -> _DecodedFile:
    if isinstance(content, bytes):
        try:
            text, size = content.decode(), len(content)
        except UnicodeDecodeError:
            return _DecodedFile(len(content), reason="is not text in UTF-8")
    else:
        text = content
        if not _is_utf8(text):
            return _DecodedFile(len(text), reason="is not text in UTF-8")
        size = len(text.encode())
    if "\x00" in text:
        return _DecodedFile(size, reason="holds a NUL character: no text")
    return _DecodedFile(size, text)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
