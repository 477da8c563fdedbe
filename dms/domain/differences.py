"""What differs between a thing registered before and the same thing sent again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.problems import Conflict, Unprocessable
from sluice.visible_text import quoted


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file of a data set as it is registered. ``checksum``: sha256 as bytes; the places are all
    it ever had."""

    name: str
    seq: int
    size: int
    checksum: bytes
    places: frozenset[tuple[UUID, str]]


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file as it is sent for registration, its URL taken apart."""

    name: str
    seq: int
    size: int
    checksum: bytes
    url: str
    storage_id: UUID
    path: str
    meta: Mapping[str, Any]
    origin: Mapping[str, Any] | None
    #: It was there, and is no more.
    released: bool = False

    @property
    def place(self) -> tuple[UUID, str]:
        return self.storage_id, self.path


class FileDiffers(Conflict):
    """A file of this name is registered, and it is another."""

    def __init__(self, name: str, difference: str) -> None:
        super().__init__(
            f"file {quoted(name)} is registered already, with another {difference}", file=name
        )
        self.file = name


class FileIsNot(Unprocessable):
    """What lies at a file's URL is not what it is said to be."""

    def __init__(self, name: str, url: str, fault: str) -> None:
        super().__init__(f"file {quoted(name)}: {url} {fault}", file=name, url=url)


class NumberTaken(Conflict):
    """A file of the data set has this number (``seq``) already, under another name (invariant
    8)."""

    def __init__(self, name: str, other: str, *, seq: int) -> None:
        super().__init__(
            f"file {quoted(name)} has seq {seq}, which is that of the registered file"
            f" {quoted(other)}: each file has a number of its own",
            file=name,
            other=other,
            seq=seq,
        )


class SentTwice(Unprocessable):
    """Two files of one request contradict each other."""

    def __init__(self, name: str, other: str, shared: str) -> None:
        super().__init__(
            f"files {quoted(name)} and {quoted(other)} of the request have the same {shared}",
            file=name,
        )


def new_files(
    sent: list[SentFile], known: Mapping[str, KnownFile], *, numbered: bool = True
) -> list[SentFile]:
    """Those not registered yet, each once. ``numbered``: each has a number of its own.
    Raises ``FileDiffers``, ``SentTwice``."""
    by_name: dict[str, SentFile] = {}
    by_place: dict[tuple[UUID, str], str] = {}
    by_number: dict[int, str] = {}
    for file in sent:
        if file.name in known:
            _require_same(known[file.name], file)
            continue
        other = by_name.setdefault(file.name, file)
        if other != file:
            raise SentTwice(file.name, other.name, "name and differ otherwise")
        namesake = by_place.setdefault(file.place, file.name)
        if namesake != file.name:
            raise SentTwice(namesake, file.name, f"url {file.url}")
        if numbered and (namesake := by_number.setdefault(file.seq, file.name)) != file.name:
            raise SentTwice(namesake, file.name, f"seq {file.seq}")
    return list(by_name.values())


def _require_same(known: KnownFile, sent: SentFile) -> None:
    if known.checksum != sent.checksum:
        raise FileDiffers(
            sent.name, f"checksum: sha256:{known.checksum.hex()}, not sha256:{sent.checksum.hex()}"
        )
    if known.size != sent.size:
        raise FileDiffers(sent.name, f"size: {known.size} bytes, not {sent.size}")
    if known.seq != sent.seq:
        raise FileDiffers(sent.name, f"place in the data set: number {known.seq}, not {sent.seq}")
    if sent.place not in known.places:
        raise FileDiffers(sent.name, f"url than {sent.url}")


def require_same_request(
    subject: str, first: Mapping[str, Any], again: Mapping[str, Any], **ids: Any
) -> None:
    """Raises ``Conflict`` that names every field in which a repeated registration differs from the
    first."""
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
