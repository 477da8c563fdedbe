"""Looking for links on the way to what somebody wants to register."""

from dms.domain.places import OutsideStorages, StoragePlace
from dms.domain.storage_errors import StorageTakesNothing
from dms.usecases.check_folder import require_same_folder
from sluice.storage import StorageUnavailable, through_link, within


def require_no_link(place: StoragePlace, *, subject: str) -> None:
    """Precondition: a place below the storage's own folder. Blocks. Raises ``OutsideStorages``
    where a link below that folder is passed on the way, or stands there: it is out of the storage,
    or what another place names, whose owner may delete it; ``StorageTakesNothing`` where the
    storage's folder is another than before."""
    try:
        require_same_folder(place.root)
    except StorageUnavailable as error:
        raise StorageTakesNothing(
            subject, place.root.name, storage_id=place.root.id, why=error.reason
        ) from error
    storage = place.root.name
    if not within(place.root.url, place.url):
        raise OutsideStorages(subject, place.url, f"leads out of storage {storage!r} by a link")
    if through_link(place.root.url, place.url):
        raise OutsideStorages(
            subject,
            place.url,
            f"is reached through a link in storage {storage!r}: give the place where it really"
            " lies",
        )
