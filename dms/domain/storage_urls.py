"""URLs of storages and of allowed roots: their form, and which URL contains which by its text."""

import re
import shlex
from urllib.parse import urlsplit

from sluice.contracts.common.plain_paths import stays_inside

#: Schemes that keep nothing: each process has its own memory.
NOT_DURABLE = frozenset({"memory"})
#: Schemes that are aliases in the storage drivers.
_ALIASES = {"s3a": "s3", "gcs": "gs", "abfss": "abfs"}

#: Longest path of a storage in bytes. The rest of the 4095 bytes that Linux takes is for the
#: folders of data sets and the names of files.
MAX_STORAGE_PATH = 3_500

_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")


class InvalidStorageUrl(ValueError):
    """The form of a URL is wrong; the message continues a sentence that starts with the URL."""


def require_storage_url(url: str) -> None:
    """Check that a URL is the only way to write its folder, and not a whole file system.

    Raises:
        InvalidStorageUrl: The form of the URL is wrong.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or not stays_inside(rest.removeprefix("/")):
        raise InvalidStorageUrl("is not a plain folder below the root: give one for Sluice")
    _require_durable(scheme)
    if scheme != scheme.lower():
        raise InvalidStorageUrl(
            f"has its scheme in capitals: write it as {scheme.lower()}://{rest}"
        )
    if scheme == "file" and not rest.startswith("/"):
        raise InvalidStorageUrl(f"names a machine: write it as file:///{rest.partition('/')[2]}")
    if len(rest.encode()) > MAX_STORAGE_PATH:
        raise InvalidStorageUrl(
            f"has a path of more than {MAX_STORAGE_PATH} bytes, which leaves no space for data sets"
            " and files: give a folder with a shorter path"
        )
    if _ESCAPE.search(rest):
        raise InvalidStorageUrl(
            "has escapes (%…): give the folder's name as it is, or another folder"
        )
    if scheme != "file" and set("?#") & set(rest):
        raise InvalidStorageUrl("has more than a path (?, #): give the folder alone")


def read_roots(text: str) -> tuple[str, ...]:
    """Split a text into URLs, by the rules of a shell.

    Absolute paths become ``file:`` URLs. Slashes at the end are removed, except that of the root.

    Raises:
        ValueError: A word is neither an absolute path nor a URL, or leaves its folder.
    """
    return tuple(_root(word) for word in shlex.split(text))


def _root(word: str) -> str:
    url = f"file://{word}" if word.startswith("/") else word
    scheme, separator, rest = url.partition("://")
    if not separator or not scheme or (scheme == "file" and not rest.startswith("/")):
        raise ValueError(
            f"{word} is neither an absolute path nor a URL such as file:///data or s3://bucket"
        )
    if ".." in rest.split("/"):
        raise ValueError(f"{word} leaves its folder with '..'")
    try:
        _require_durable(scheme)
    except InvalidStorageUrl as error:
        raise ValueError(f"{word} {error}") from None
    return url if url == "file:///" else url.rstrip("/")


def _require_durable(scheme: str) -> None:
    if scheme.lower() in NOT_DURABLE:
        raise InvalidStorageUrl("keeps nothing: each process has its own memory")


def contains_url(outer: str, inner: str) -> bool:
    """Return whether ``inner`` is ``outer`` or is in it, as far as the text of the URLs says.

    The comparison ignores the case of hosts and buckets.
    """
    outer_at, inner_at = _normalize(outer), _normalize(inner)
    return outer_at[:2] == inner_at[:2] and (inner_at[2] + "/").startswith(outer_at[2] + "/")


def _normalize(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return _ALIASES.get(scheme, scheme), parts.netloc.lower(), parts.path.rstrip("/")
