"""Files of a request, checked and with their places on storages."""

from collections.abc import Sequence

from dms.domain.differences import SubmittedFile
from dms.domain.places import (
    OutsideStorages,
    Root,
    StoragePlace,
    require_unreserved_folder,
    storage_place,
)
from dms.domain.storage_errors import StorageDisabled
from dms.usecases.storages.free_space import RejectionReasons
from sluice.contracts.data.datasets import NewFile
from sluice.contracts.data.reserved_names import require_no_reserved_keys
from sluice.text.visible_text import quoted


def find_place(file: NewFile, roots: Sequence[Root]) -> StoragePlace:
    """Return the place of a file.

    Raises:
        OutsideStorages: The URL is below no storage, or is the folder of a storage.
    """
    place = storage_place(file.url, roots, subject=f"file {quoted(file.name)}")
    if not place.path:
        raise OutsideStorages(
            f"file {quoted(file.name)}", file.url, "is the folder of a storage, not a file in it"
        )
    return place


def require_unreserved(files: Sequence[NewFile], places: Sequence[StoragePlace]) -> None:
    """Check files that a person registers: only the system registers files of assets."""
    for file, place in zip(files, places, strict=True):
        subject = f"file {quoted(file.name)}"
        require_no_reserved_keys(file.meta, subject)
        require_unreserved_folder(place, subject=subject)


def require_usable_storages(
    files: Sequence[NewFile], places: Sequence[StoragePlace], rejection_reasons: RejectionReasons
) -> None:
    """Check that the storages of the files accept new files.

    Raises:
        StorageDisabled: A storage rejects new files.
    """
    for file, place in zip(files, places, strict=True):
        if (why := rejection_reasons.get(place.root.id)) is not None:
            raise StorageDisabled(
                f"file {quoted(file.name)}", place.root.name, storage_id=place.root.id, why=why
            )


def to_submitted(file: NewFile, place: StoragePlace) -> SubmittedFile:
    """Return the row of a file."""
    return SubmittedFile(
        name=file.name,
        seq=file.seq,
        size=file.size,
        checksum=bytes.fromhex(file.checksum.removeprefix("sha256:")),
        url=file.url,
        storage_id=place.root.id,
        path=place.path,
        meta=file.meta,
        origin=file.origin,
        released=file.released,
    )
