"""Assets: models and configurations of tools, by name and version.

A version is a set of files. The same files are the same version.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from sluice.contracts.access.owners import GroupName
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.base import Checksum, Contract, FileName, Metadata, Timestamp
from sluice.contracts.common.bounds import NewFileName, require_short_name
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.wording import in_words
from sluice.contracts.data.asset_refs import AssetPath, AssetRef, file_name_of
from sluice.text.visible_text import REORDERING, quoted

#: The most files of one version.
MAX_FILES = 1000
#: The most characters of a tool that checks the files.
MAX_CHECK = 256 * 1024
#: The number of bytes of a file that are sent at a time.
PIECE = 8 * 1024 * 1024


class AssetInUse(Conflict):
    """The data set holds a version of an asset that new chains may get."""

    def __init__(self, uid: UUID, name: str, asset: object) -> None:
        super().__init__(
            f"data set {name} holds a version of the asset {quoted(asset)}, which new chains may"
            f" use: it is deleted when the version is withdrawn (`sluice asset show {asset}` lists"
            f" versions, `sluice asset remove {asset}@VERSION` withdraws one) and no chain needs"
            " it",
            dataset=uid,
        )


class AssetFile(Contract):
    """A file of an asset version."""

    path: AssetPath
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum


def compute_digest(files: Iterable[AssetFile]) -> str:
    """Return the SHA-256 digest of the paths and checksums of files.

    The order of the files does not matter.
    """
    listed = sorted((file.path, file.checksum) for file in files)
    return hashlib.sha256(json.dumps(listed, ensure_ascii=False).encode()).hexdigest()


class NewAssetFile(Contract):
    """A file of a new version.

    Attributes:
        checksum: None if it is not known before the upload.
    """

    path: AssetPath
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum | None = None


def _apart(files: list[NewAssetFile]) -> list[NewAssetFile]:
    paths = [file.path for file in files]
    for path in paths:
        if paths.count(path) > 1:
            raise in_words(f"two files have the path {quoted(path)}")
        if any(other.startswith(f"{path}/") for other in paths):
            raise in_words(f"{quoted(path)} is a file and a folder")
        require_short_name(file_name_of(path))
        _in_order(path)
    return files


def _in_order(text: str) -> str:
    """Return a new text, or raise an error if a character would show it in another order."""
    if forbidden := REORDERING.intersection(text):
        raise in_words(
            f"{quoted(text)} has the character U+{ord(min(forbidden)):04X}, which changes the order"
            " in which the following text is displayed: remove it"
        )
    return text


class AssetCheck(Contract):
    """A tool that fails if the files of an asset are wrong: its file name and text."""

    name: FileName
    text: Annotated[str, Field(min_length=1, max_length=MAX_CHECK)]


class NewAsset(Contract):
    """A request to begin a version with the given files.

    Attributes:
        note: A remark for the history.
        check: The tool that accepted the files. Defaults to the check of the newest version.
        group: The group that owns a new name. Defaults to a group of the person who stores the
            asset.
    """

    files: Annotated[
        list[NewAssetFile], Field(min_length=1, max_length=MAX_FILES), AfterValidator(_apart)
    ]
    note: Annotated[str, Field(max_length=500), AfterValidator(_in_order)] = ""
    check: AssetCheck | None = None
    group: GroupName | None = None


class AssetVersion(Contract):
    """A version of an asset.

    Attributes:
        digest: A SHA-256 digest of the files.
        dataset_uid: The data set that holds its files.
        check: The check for the next version, before that version is stored.
        removed_at: Chains that are created after this time do not get the version.
        deleted_at: When its files were deleted.
    """

    name: str
    version: int
    digest: str
    dataset_uid: UUID
    files: list[AssetFile]
    note: str = ""
    check: AssetCheck | None = None
    created_at: Timestamp
    removed_at: Timestamp | None = None
    deleted_at: Timestamp | None = None

    @property
    def size(self) -> int:
        """Return the total size of the files in bytes."""
        return sum(file.size for file in self.files)

    @property
    def ref(self) -> AssetRef:
        """Return a reference to this version."""
        return AssetRef(name=self.name, version=self.version)


class FileToSend(Contract):
    """A file that must be sent.

    Attributes:
        number: Its place in the list of files.
        received: How many of its first bytes have arrived.
    """

    number: int
    path: str
    received: int = 0


class AssetDraft(Contract):
    """A version whose files are being sent.

    Attributes:
        uid: None if ``version`` already has exactly these files.
    """

    uid: UUID | None = None
    version: AssetVersion | None = None
    missing: list[FileToSend] = Field(default_factory=list)


class StoredAsset(Contract):
    """A stored version.

    Attributes:
        new: Whether the version was created now.
        newest: The version that new chains get.
    """

    version: AssetVersion
    new: bool
    newest: int


class AssetUse(Contract):
    """A version and the newest chains that got it.

    Attributes:
        more: Whether there are other chains that got it.
    """

    version: AssetVersion
    chains: list[Chain]
    more: bool = False


class Asset(Contract):
    """All versions of an asset, the newest first."""

    name: str
    versions: list[AssetVersion]

    @property
    def newest(self) -> AssetVersion | None:
        """Return the version that new chains get, or None if all are removed."""
        return next((each for each in self.versions if each.removed_at is None), None)

    def version(self, number: int) -> AssetVersion | None:
        """Return the version with a number, or None."""
        return next((each for each in self.versions if each.version == number), None)


class AssetList(Contract):
    """A list of assets, ordered by name."""

    assets: list[Asset]


class AssetUses(Contract):
    """The versions of an asset, with the chains that got each version."""

    name: str
    versions: list[AssetUse]


class RemovedAsset(Contract):
    """Versions that were removed.

    Attributes:
        kept: Versions whose files stay until the chains that use them have ended.
    """

    removed: list[AssetVersion]
    kept: list[AssetUse] = Field(default_factory=list)


class PieceAt(Contract):
    """A piece of a file that is sent to the DMS: its file, offset and size."""

    file: str
    offset: int
    size: int


class Pieces(Contract):
    """A list of pieces."""

    pieces: list[PieceAt]


class JoinPieces(Contract):
    """A request to join the pieces of a file. All pieces must have been sent.

    Attributes:
        seq: The number of the file in the data set.
        name: The name of the file.
        checksum: None if it is not known yet.
    """

    seq: Annotated[int, Field(ge=0)]
    name: NewFileName
    meta: Metadata = Field(default_factory=dict)
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum | None = None


class JoinedFile(Contract):
    """The size and checksum of a joined file."""

    size: int
    checksum: Checksum
