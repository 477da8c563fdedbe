"""Watch the storages: each must be in an allowed root and apart from the others."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

import structlog

from dms.db.storages import list_roots, note_folders
from dms.domain.places import Root
from dms.domain.storage_errors import StorageRefused, StoragesOverlap
from dms.domain.storage_urls import contains_url
from dms.usecases.files.file_work import FileWork, FolderFacts
from sluice.servicekit.database import Database
from sluice.storage import Folder, find_local_path
from sluice.text.visible_text import quoted

log = structlog.get_logger(__name__)

SETTING = "SLUICE_DMS_STORAGE_ROOTS"

#: Real folder by URL of a local folder; no entry if it could not be found out.
_Folders = Mapping[str, Folder]


class StorageMonitor:
    """The component that keeps the results of the last look at the storages.

    Attributes:
        rejection_reasons: Why enabled storages get no new data, by storage: for example because
            settings or links have changed since their registration.
        read_only: Folders from which nothing is removed, even if another storage contains them.
        roots: URLs of the places where storages may be.
        exclusions: URLs of folders where no storage may be added.
    """

    def __init__(
        self,
        database: Database,
        files: FileWork,
        roots: Sequence[str],
        exclusions: Sequence[str] = (),
    ) -> None:
        self.rejection_reasons: Mapping[UUID, str] = {}
        self.read_only: Sequence[Folder] = ()
        self._database = database
        self._files = files
        self.roots = tuple(roots)
        self.exclusions = tuple(exclusions)
        self._last_folders: dict[str, Folder] = {}
        self._free_now: dict[str, float] = {}
        self._free: dict[str, float] = {}

    @property
    def free_now(self) -> Mapping[str, float]:
        """Return the free bytes by URL of a local storage; 0 if it did not answer."""
        return self._free_now

    @property
    def free(self) -> Mapping[str, float]:
        """Return ``free_now``, but with the last known value for a storage that did not answer."""
        return self._free

    async def start(self) -> None:
        """Look at the storages."""
        await self.check_all()

    async def stop(self) -> None:
        """Do nothing."""

    async def check_all(self) -> bool:
        """Look at all storages, and judge them; return False, as the loop has no more work now.

        New rejections are logged. The folders of storages from earlier releases are recorded.
        """
        storages = await self._storages()
        folders = await self._folders([storage.url for storage in storages])
        async with self._database.connection() as connection:
            await note_folders(connection, _unrecorded_folders(storages, folders))
        self._judge(storages, folders)
        return False

    async def judge(self) -> None:
        """Judge the storages by where they were last seen, so that a request need not wait."""
        self._judge(await self._storages(), self._last_folders)

    async def _storages(self) -> list[Root]:
        async with self._database.connection() as connection:
            return list((await list_roots(connection)).values())

    def _judge(self, storages: Sequence[Root], folders: _Folders) -> None:
        enabled = [storage for storage in storages if storage.enabled]
        rejection_reasons = {
            storage.id: why
            for storage in enabled
            if (why := self._find_rejection_reason(storage, enabled, folders)) is not None
        }
        for storage in enabled:
            reason = rejection_reasons.get(storage.id)
            if reason is not None and reason != self.rejection_reasons.get(storage.id):
                log.warning(
                    "storage.rejected",
                    storage=storage.name,
                    url=storage.url,
                    reason=reason,
                )
        self.rejection_reasons = rejection_reasons
        self.read_only = [
            folders[storage.url]
            for storage in storages
            if storage.read_only and storage.url in folders
        ]

    async def ensure_checked(self, url: str) -> None:
        """Look at a storage if its free bytes are not known yet."""
        if url not in self._free:
            await self.check_storage(url)

    async def check_storage(self, url: str) -> None:
        """Look at a storage now, and update ``free_now`` and ``free``."""
        await self._folders([url])

    async def require_free(self, name: str, url: str, other_roots: Sequence[Root]) -> str | None:
        """Check that a storage may be at a URL, and return its real local folder, if it has one.

        Raises:
            StorageRefused: The URL is in no allowed root, is excluded, or cannot be looked at.
            StoragesOverlap: It overlaps with one of ``other_roots``.
        """
        folders = await self._folders(
            [url, *(other.url for other in other_roots), *self.exclusions]
        )
        if find_local_path(url) is not None and url not in folders:
            raise StorageRefused(
                name,
                url,
                "is not accessible to the DMS: it does not answer, or it denies access",
            )
        if not self._may_lie_at(url, folders):
            raise StorageRefused(name, url, self._outside())
        if (excluded := self._exclusion_around(url, folders)) is not None:
            raise StorageRefused(
                name,
                url,
                f"is in {find_local_path(excluded)}, which tools may read: choose another folder,"
                " or start the system again with `sluice up --storage-root` and the folder of the"
                " storage, which hides it from tools",
            )
        for other in other_roots:
            if _overlap(url, other.url, folders):
                raise StoragesOverlap(name, url, other=other.name, other_url=other.url)
        return folders[url].path if url in folders else None

    def _find_rejection_reason(
        self, storage: Root, other_roots: Sequence[Root], folders: _Folders
    ) -> str | None:
        if find_local_path(storage.url) is not None:
            if storage.url not in folders:  # another instance may just have registered it
                return "its file system does not answer" if storage.url in self._free_now else None
            if folders[storage.url].identity is None:
                return "its folder is not there: is its file system mounted?"
            if (why := storage.moved_to(folders[storage.url].path)) is not None:
                return why
        if not self._may_lie_at(storage.url, folders):
            return f"it {self._outside()}"
        for other in other_roots:
            if other.id != storage.id and _overlap(storage.url, other.url, folders):
                return (
                    f"it and storage {quoted(other.name)} ({other.url}) are one folder, or one"
                    " is in the other: disable one"
                )
        return None

    def _outside(self) -> str:
        where = ", ".join(self.roots) or "none is given"
        return (
            f"is outside the folders in which storages may be ({where}): add its folder, or one"
            f" above it, to {SETTING} and start the DMS again (`sluice up` has --storage-root)"
        )

    def _may_lie_at(self, url: str, folders: _Folders) -> bool:
        return any(_in(url, root, folders) for root in self.roots)

    def _exclusion_around(self, url: str, folders: _Folders) -> str | None:
        """Return the exclusion that ``url`` is in, unless a root inside it contains ``url``."""
        around = [place for place in (*self.exclusions, *self.roots) if _in(url, place, folders)]
        innermost = max(
            around, key=lambda place: len(folders[place].path) if place in folders else 0
        )
        return innermost if innermost in self.exclusions else None

    async def _folders(self, urls: Sequence[str]) -> _Folders:
        """Return the real folders of these URLs and of the roots.

        A folder that does not answer now has its last known value.
        """
        local = [
            url for url in dict.fromkeys((*urls, *self.roots)) if find_local_path(url) is not None
        ]
        looks = (self._files.inspect_folder(find_local_path(url) or "/") for url in local)
        for url, facts in zip(
            local, await asyncio.gather(*looks, return_exceptions=True), strict=True
        ):
            if isinstance(facts, FolderFacts):
                self._last_folders[url], self._free_now[url], self._free[url] = (
                    facts.folder,
                    facts.free,
                    facts.free,
                )
            elif isinstance(facts, OSError | TimeoutError):
                self._free_now[url] = 0.0
                log.warning(
                    "storage.does_not_answer", url=url, reason=str(facts) or type(facts).__name__
                )
            else:
                raise facts
        return {url: self._last_folders[url] for url in local if url in self._last_folders}


def _unrecorded_folders(storages: Sequence[Root], folders: _Folders) -> Mapping[UUID, str]:
    found_folders = {
        storage.id: folders[storage.url]
        for storage in storages
        if storage.lies_at is None and storage.url in folders
    }
    return {
        uid: folder.path for uid, folder in found_folders.items() if folder.identity is not None
    }


def _in(inner: str, outer: str, folders: _Folders) -> bool:
    if inner in folders and outer in folders:
        return folders[outer].holds(folders[inner])
    return find_local_path(inner) is find_local_path(outer) is None and contains_url(outer, inner)


def _overlap(first: str, second: str, folders: _Folders) -> bool:
    if (
        find_local_path(first) is not None
        and find_local_path(second) is not None
        and not {first, second} <= folders.keys()
    ):
        return contains_url(first, second) or contains_url(second, first)
    return _in(first, second, folders) or _in(second, first, folders)
