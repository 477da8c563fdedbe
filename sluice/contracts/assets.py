"""Assets: models and configurations of tools, kept under a name and in versions. A version is a set
of files, and the same files are the same version."""

import hashlib
import json
import operator
from collections.abc import Iterable
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from sluice.contracts.asset_refs import AssetPath, AssetRef, file_name_of
from sluice.contracts.base import Checksum, Contract, FileName, Metadata, Timestamp, absent
from sluice.contracts.bounds import NewFileName, require_short_name
from sluice.contracts.chains import Chain
from sluice.contracts.owners import GroupName
from sluice.contracts.problems import Conflict
from sluice.contracts.wording import in_words
from sluice.visible_text import quoted

#: Files of one version.
MOST_FILES = 1000
#: Characters of a tool that checks them.
MOST_CHECK = 256 * 1024
#: Bytes of a file that are sent at a time.
PIECE = 8 * 1024 * 1024


class AssetKept(Conflict):
    """A data set holds a version of an asset, which chains may be given at any moment."""

    def __init__(self, uid: UUID, name: str, asset: object) -> None:
        super().__init__(
            f"data set {name} holds a version of the asset {quoted(asset)}, which new chains may be"
            f" given: it goes when that is taken back (`sluice asset show {asset}` lists them,"
            f" `sluice asset remove {asset}@VERSION` takes one back) and no chain needs it",
            dataset=uid,
        )


class AssetFile(Contract):
    path: AssetPath
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum


def digest_of(files: Iterable[AssetFile]) -> str:
    """SHA-256 of what files there are and what is in each; their order says nothing."""
    listed = sorted((file.path, file.checksum) for file in files)
    return hashlib.sha256(json.dumps(listed, ensure_ascii=False).encode()).hexdigest()


class NewAssetFile(Contract):
    """``checksum``: None where it is not known before the file has been sent."""

    path: AssetPath
    size: Annotated[int, Field(ge=0)]
    checksum: Annotated[Checksum | None, Field(exclude_if=absent)] = None


def _apart(files: list[NewAssetFile]) -> list[NewAssetFile]:
    paths = [file.path for file in files]
    for path in paths:
        if paths.count(path) > 1:
            raise in_words(f"two files have the path {quoted(path)}")
        if any(other.startswith(f"{path}/") for other in paths):
            raise in_words(f"{quoted(path)} is a file and a folder")
        require_short_name(file_name_of(path))
    return files


class AssetCheck(Contract):
    """A tool that takes the files of an asset, and fails where they are wrong: the name of its
    file, and its text."""

    name: FileName
    text: Annotated[str, Field(min_length=1, max_length=MOST_CHECK)]


class NewAsset(Contract):
    """Begins a version: which files it is to have. ``note``: for whoever reads its history.
    ``check``: what accepted them; None: that of the newest version stays. ``group``: that owns the
    name, where it is new; None: a group of the person who stores it."""

    files: Annotated[
        list[NewAssetFile], Field(min_length=1, max_length=MOST_FILES), AfterValidator(_apart)
    ]
    note: Annotated[str, Field(max_length=500)] = ""
    check: Annotated[AssetCheck | None, Field(exclude_if=absent)] = None
    group: Annotated[GroupName | None, Field(exclude_if=absent)] = None


class AssetVersion(Contract):
    """``dataset_uid``: of the data set that holds its files. ``digest``: SHA-256 of all that it is.
    ``check``: for the next version, before it is put.
    ``removed_at``: since when new chains do not get it any more; ``deleted_at``: since when its
    files are gone as well."""

    name: str
    version: int
    digest: str
    dataset_uid: UUID
    files: list[AssetFile]
    note: str = ""
    check: Annotated[AssetCheck | None, Field(exclude_if=absent)] = None
    created_at: Timestamp
    removed_at: Annotated[Timestamp | None, Field(exclude_if=absent)] = None
    deleted_at: Annotated[Timestamp | None, Field(exclude_if=absent)] = None

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def ref(self) -> AssetRef:
        return AssetRef(name=self.name, version=self.version)


class FileToSend(Contract):
    """A file that is to be sent. ``number``: its place in the list of files; ``received``: bytes
    that are there already, from its beginning."""

    number: int
    path: str
    received: int = 0


class AssetDraft(Contract):
    """A version that is being sent. ``uid`` None: there is nothing to send, as ``version`` has just
    these files already."""

    uid: UUID | None = None
    version: AssetVersion | None = None
    missing: list[FileToSend] = Field(default_factory=list)


class StoredAsset(Contract):
    """``new``: whether the version was made now. ``newest``: the version that new chains get."""

    version: AssetVersion
    new: bool
    newest: int


class AssetUse(Contract):
    """A version, and chains that were given it, the newest first; ``more``: there are others."""

    version: AssetVersion
    chains: list[Chain]
    more: Annotated[bool, Field(exclude_if=operator.not_)] = False


class Asset(Contract):
    """All versions there were, the newest first. ``newest``: what new chains get; None: all have
    been taken back."""

    name: str
    versions: list[AssetVersion]

    @property
    def newest(self) -> AssetVersion | None:
        return next((each for each in self.versions if each.removed_at is None), None)

    def version(self, number: int) -> AssetVersion | None:
        return next((each for each in self.versions if each.version == number), None)


class AssetList(Contract):
    """By name."""

    assets: list[Asset]


class AssetUses(Contract):
    """As ``Asset``, with who was given each version."""

    name: str
    versions: list[AssetUse]


class RemovedAsset(Contract):
    """Versions that were taken back. ``kept``: those whose files stay until the chains have ended
    that use them."""

    removed: list[AssetVersion]
    kept: list[AssetUse] = Field(default_factory=list)


class PieceAt(Contract):
    """A piece of a file that is being sent to the DMS: of which file, where in it, how long."""

    file: str
    offset: int
    size: int


class Pieces(Contract):
    pieces: list[PieceAt]


class JoinPieces(Contract):
    """The pieces of a file, all of which have been sent, become the file ``name``, ``seq`` of the
    data set. ``checksum``: None where only now it is to be known."""

    seq: Annotated[int, Field(ge=0)]
    name: NewFileName
    meta: Metadata = Field(default_factory=dict)
    size: Annotated[int, Field(ge=0)]
    checksum: Annotated[Checksum | None, Field(exclude_if=absent)] = None


class JoinedFile(Contract):
    size: int
    checksum: Checksum
