"""Errors about storages."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.text.visible_text import quoted


class UnknownStorage(NotFound):
    """No storage has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no storage is called {quoted(name)}", storage=name)


class StorageRefused(Unprocessable):
    """The storage may not be at this URL, or cannot be used."""

    def __init__(self, name: str, url: str, why: str) -> None:
        super().__init__(f"storage {quoted(name)}: {url} {why}", storage=name, url=url)


class WatermarksRefused(Unprocessable):
    """The storage cannot have these watermarks."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"storage {quoted(name)}: these watermarks {why}", storage=name)


class StoragesOverlap(Conflict):
    """Two storages would contain the same files, and each could delete them."""

    def __init__(self, name: str, url: str, *, other: str, other_url: str) -> None:
        super().__init__(
            f"storage {quoted(name)}: {url} and storage {quoted(other)} ({other_url}) are one"
            " folder, or one is in the other: give each its own folder",
            storage=name,
            url=url,
            other=other,
        )


class StorageDisabled(Unprocessable):
    """The storage takes no new data sets."""

    def __init__(self, subject: str, name: str, *, storage_id: UUID, why: str) -> None:
        super().__init__(
            f"{subject}: storage {quoted(name)} gets no new data: {why}", storage=storage_id
        )
