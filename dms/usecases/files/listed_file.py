"""A file of a data set, as clients see it."""

from collections.abc import Mapping
from uuid import UUID

from dms.db.files import ListedFile
from dms.domain.places import Root
from sluice.contracts.data.datasets import File


def build_file(uid: UUID, row: ListedFile, roots: Mapping[UUID, Root]) -> File:
    """Return a file with the URL of its replica."""
    # The catalogue was checked when it was written. Checking 10 000 files again would block other
    # requests.
    return File.model_construct(
        id=row.id,
        dataset_uid=uid,
        seq=row.seq,
        name=row.name,
        size=row.size,
        checksum=f"sha256:{row.checksum.hex()}",
        url=roots[row.storage_id].build_url(row.path),
        meta=row.meta,
        origin=row.origin,
        released=row.released,
    )
