"""Looking for links on the way to what somebody wants to register."""

from dms.domain.places import OutsideStorages, StoragePlace
from dms.domain.storage_errors import StorageTakesNothing
from dms.usecases.check_folder import require_same_folder
from sluice.storage import StorageUnavailable, inside_by_name, through_link, within
from sluice.visible_text import quoted


def require_no_link(place: StoragePlace, *, subject: str, plain: set[str] | None = None) -> None:
    """Require a place that no link leads to or stands at. Blocks.

    A link leads out of the storage, or to another place, whose owner may delete the file there.
    Each call of the operating system lets other threads run, and may wait for them: with ``plain``
    a file of many costs one.

    Args:
        place: Below the storage's own folder.
        subject: Whose place it is, for the message.
        plain: What was looked at for places before, in the same turn of a thread.

    Raises:
        OutsideStorages: A link is there, or on the way below the storage's own folder.
        StorageTakesNothing: The storage's folder is another than before.
    """
    known = set[str]() if plain is None else plain
    if place.root.url not in known:
        try:
            require_same_folder(place.root)
        except StorageUnavailable as error:
            raise StorageTakesNothing(
                subject, place.root.name, storage_id=place.root.id, why=error.reason
            ) from error
        known.add(place.root.url)
    storage = place.root.name
    inside = inside_by_name(place.root.url, place.url)
    if inside and not through_link(place.root.url, place.url, plain=known):
        return
    if not within(place.root.url, place.url):
        raise OutsideStorages(
            subject, place.url, f"leads out of storage {quoted(storage)} by a link"
        )
    raise OutsideStorages(
        subject,
        place.url,
        f"is reached through a link in storage {quoted(storage)}: give the place where it really"
        " lies",
    )
