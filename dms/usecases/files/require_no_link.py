"""Checks for links on the path of what is to be registered."""

from dms.domain.places import OutsideStorages, StoragePlace
from dms.domain.storage_errors import StorageDisabled
from dms.usecases.files.require_same_folder import require_same_folder
from sluice.storage import StorageUnavailable, is_inside_by_name, is_within, leads_through_link
from sluice.text.visible_text import quoted


def require_no_link(place: StoragePlace, *, subject: str, plain: set[str] | None = None) -> None:
    """Check that a place is not a link and is not reached through one. Blocks.

    A link leads out of the storage, or to another place, whose owner may delete the file there.
    Each system call lets other threads run, and may wait for them. With ``plain``, each file of a
    large set needs only one.

    Args:
        place: A place below the storage's own folder.
        subject: The object at the place, for the message.
        plain: Paths that earlier calls in the same thread checked; updated.

    Raises:
        OutsideStorages: The place or a folder above it, below that of the storage, is a link.
        StorageDisabled: The folder of the storage has moved.
    """
    checked = set[str]() if plain is None else plain
    if place.root.url not in checked:
        try:
            require_same_folder(place.root)
        except StorageUnavailable as error:
            raise StorageDisabled(
                subject, place.root.name, storage_id=place.root.id, why=error.reason
            ) from error
        checked.add(place.root.url)
    storage = place.root.name
    inside = is_inside_by_name(place.root.url, place.url)
    if inside and not leads_through_link(place.root.url, place.url, plain=checked):
        return
    if not is_within(place.root.url, place.url):
        raise OutsideStorages(
            subject, place.url, f"leads out of storage {quoted(storage)} by a link"
        )
    raise OutsideStorages(
        subject,
        place.url,
        f"is reached through a link in storage {quoted(storage)}: give the place where it really"
        " is",
    )
