"""URLs: the local path that a URL names, and whether it is inside a storage."""

import os
import posixpath
from urllib.parse import quote, unquote, urlsplit

from sluice.storage.errors import OutsideStorage
from sluice.text.visible_text import quoted

_FILE = "file://"

#: How often nested escapes are decoded. A URL with more is refused.
_MAX_UNQUOTED = 4


def find_local_path(url: str) -> str | None:
    """Return the path of a ``file://`` URL, or None for other protocols.

    The URL is taken literally (a ``%`` is a per cent sign).
    """
    if not url.startswith(_FILE):
        return None
    rest = url[len(_FILE) :]
    if rest.startswith("localhost/"):
        rest = rest[len("localhost") :]
    return rest if rest.startswith("/") else None


def build_local_url(path: str | os.PathLike[str]) -> str:
    """Return the ``file://`` URL of a local path, the inverse of ``find_local_path``."""
    return _FILE + os.path.abspath(path)


def build_location(path: str | os.PathLike[str]) -> str:
    """Return the CWL ``location`` of a local path: an absolute file URL with escapes.

    A relative path is made absolute, because its first folder would be read as a host.
    """
    return _FILE + quote(os.path.abspath(path))


def parse_location(location: str) -> str:
    """Return the local path of a CWL ``location``, the inverse of ``build_location``.

    Raises:
        ValueError: The location is not a file URL, names a host, or was made of a relative path.
    """
    parts = urlsplit(location)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise ValueError(
            f"{quoted(location)} is not a file URL with an absolute path: write it as"
            " file:///folder/file"
        )
    return unquote(parts.path)


def is_within(storage_url: str, url: str) -> bool:
    """Return whether ``url`` is inside ``storage_url``, and is not the storage itself.

    Paths are normalized, as written and with escapes decoded, so that neither ``..`` nor ``%2e%2e``
    leads out. On a local storage symbolic links are followed: a link out of it is not inside.
    """
    root = storage_url.rstrip("/")
    if not is_inside_by_name(storage_url, url):
        return False
    root_path, path = find_local_path(root), find_local_path(url)
    if root_path is None or path is None:
        return root_path is path
    real_root = os.path.realpath(root_path)
    return os.path.realpath(path).startswith(real_root.rstrip("/") + "/")


def is_inside_by_name(storage_url: str, url: str) -> bool:
    """Return what ``is_within`` returns if there are no links. It reads no file system."""
    root = storage_url.rstrip("/")
    if "\x00" in url or not url.startswith(root + "/"):
        return False
    return _stays_inside(url[len(root) + 1 :])


def leads_through_link(storage_url: str, url: str, *, plain: set[str] | None = None) -> bool:
    """Return whether ``url``, or a folder on its path below the storage's folder, is a link.

    The folder of the storage may be a link, or be reached through one.

    Args:
        storage_url: The URL of the storage. Only a local one has links.
        url: A URL that is inside the storage by its name.
        plain: Paths of folders that are known to be no links. Further ones are added.
    """
    at = find_local_path(storage_url.rstrip("/"))
    if at is None:
        return False
    checked = set[str]() if plain is None else plain
    *folders, last = url[len(storage_url.rstrip("/")) + 1 :].split("/")
    for name in folders:
        at = os.path.join(at, name)
        if at in checked:
            continue
        if os.path.islink(at):
            return True
        checked.add(at)
    return os.path.islink(os.path.join(at, last))


def require_within(storage_url: str, url: str) -> None:
    """Check that ``url`` is inside a storage, as ``is_within`` does.

    Raises:
        OutsideStorage: It is not.
    """
    if not is_within(storage_url, url):
        raise OutsideStorage(url, storage_url)


def require_inside_by_name(storage_url: str, url: str) -> None:
    """Check that ``url`` is inside a storage by its name, whatever links there are.

    Raises:
        OutsideStorage: It is not.
    """
    if not is_inside_by_name(storage_url, url):
        raise OutsideStorage(url, storage_url)


def _stays_inside(relative: str) -> bool:
    for _ in range(_MAX_UNQUOTED):
        if not _normal_inside(relative):
            return False
        undone = unquote(relative)
        if undone == relative:
            return True
        relative = undone
    return False


def _normal_inside(relative: str) -> bool:
    normal = posixpath.normpath(relative.replace("\\", "/"))
    return (
        normal not in {".", ".."} and not normal.startswith(("/", "../")) and "\x00" not in normal
    )
