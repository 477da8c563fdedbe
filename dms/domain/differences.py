"""Differences between a registered object and a repeated registration of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.common.problems import Conflict, Unprocessable
from sluice.text.visible_text import quoted


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A registered file of a data set.

    ``checksum`` is the SHA-256 digest. ``places`` are all places that the file ever had.
    """

    name: str
    seq: int
    size: int
    checksum: bytes
    places: frozenset[tuple[UUID, str]]


@dataclass(frozen=True, slots=True)
class SubmittedFile:
    """A file sent for registration, with its URL split into storage and path."""

    name: str
    seq: int
    size: int
    checksum: bytes
    url: str
    storage_id: UUID
    path: str
    meta: Mapping[str, Any]
    origin: Mapping[str, Any] | None
    #: The file was released; its content no longer exists.
    released: bool = False

    @property
    def place(self) -> tuple[UUID, str]:
        """Return storage and path."""
        return self.storage_id, self.path


class FileDiffers(Conflict):
    """A different file of this name is registered."""

    def __init__(self, name: str, difference: str) -> None:
        super().__init__(
            f"file {quoted(name)} is registered already, with another {difference}", file=name
        )
        self.file = name


class ContentMismatch(Unprocessable):
    """The content at the URL of a file does not match its registration."""

    def __init__(self, name: str, url: str, fault: str) -> None:
        super().__init__(f"file {quoted(name)}: {url} {fault}", file=name, url=url)


class NumberInUse(Conflict):
    """Another file of the data set has this number (``seq``) (invariant 8)."""

    def __init__(self, name: str, other: str, *, seq: int) -> None:
        super().__init__(
            f"file {quoted(name)} has seq {seq}, which the registered file {quoted(other)} has:"
            " each file needs its own number",
            file=name,
            other=other,
            seq=seq,
        )


class ContradictoryFiles(Unprocessable):
    """Two files of one request contradict each other."""

    def __init__(self, name: str, other: str, shared_property: str) -> None:
        super().__init__(
            f"files {quoted(name)} and {quoted(other)} of the request have the same"
            f" {shared_property}",
            file=name,
        )


def new_files(
    submitted_files: list[SubmittedFile],
    registered_files: Mapping[str, KnownFile],
    *,
    numbered: bool = True,
) -> list[SubmittedFile]:
    """Return the files that are not registered yet, each once.

    Args:
        submitted_files: The files of the request.
        registered_files: Registered files by name.
        numbered: Each file must have its own number.

    Raises:
        FileDiffers: A different file of the same name is registered.
        ContradictoryFiles: Two files of the request contradict each other.
    """
    by_name: dict[str, SubmittedFile] = {}
    by_place: dict[tuple[UUID, str], str] = {}
    by_number: dict[int, str] = {}
    for file in submitted_files:
        if file.name in registered_files:
            _require_same(registered_files[file.name], file)
            continue
        other = by_name.setdefault(file.name, file)
        if other != file:
            raise ContradictoryFiles(file.name, other.name, "name and differ otherwise")
        namesake = by_place.setdefault(file.place, file.name)
        if namesake != file.name:
            raise ContradictoryFiles(namesake, file.name, f"url {file.url}")
        if numbered and (namesake := by_number.setdefault(file.seq, file.name)) != file.name:
            raise ContradictoryFiles(namesake, file.name, f"seq {file.seq}")
    return list(by_name.values())


def _require_same(registered_file: KnownFile, submitted_file: SubmittedFile) -> None:
    if registered_file.checksum != submitted_file.checksum:
        raise FileDiffers(
            submitted_file.name,
            f"checksum: sha256:{registered_file.checksum.hex()},"
            f" not sha256:{submitted_file.checksum.hex()}",
        )
    if registered_file.size != submitted_file.size:
        raise FileDiffers(
            submitted_file.name, f"size: {registered_file.size} bytes, not {submitted_file.size}"
        )
    if registered_file.seq != submitted_file.seq:
        raise FileDiffers(
            submitted_file.name,
            f"place in the data set: number {registered_file.seq}, not {submitted_file.seq}",
        )
    if submitted_file.place not in registered_file.places:
        raise FileDiffers(submitted_file.name, f"url than {submitted_file.url}")


def require_same_request(
    subject: str, first: Mapping[str, Any], again: Mapping[str, Any], **ids: Any
) -> None:
    """Check that a repeated registration equals the first one.

    Raises:
        Conflict: They differ; the message names each field that differs.
    """
    differing = sorted(
        key for key in first.keys() | again.keys() if first.get(key) != again.get(key)
    )
    if differing:
        sentences = "; ".join(
            f"{key} is {quoted(first.get(key))}, not {quoted(again.get(key))}" for key in differing
        )
        raise Conflict(
            f"{subject} is registered already, differently: {sentences}",
            differs=", ".join(differing),
            **ids,
        )
