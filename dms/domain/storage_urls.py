"""URLs of storages, and of the places where storages may be: their form, and which lies in which as
far as the text says."""

import re
import shlex
from urllib.parse import urlsplit

from sluice.contracts.plain_paths import stays_inside

#: Where nothing is kept: each process has a memory of its own.
NOT_DURABLE = frozenset({"memory"})
#: Schemes under which drivers know the same storages.
_ALIASES = {"s3a": "s3", "gcs": "gs", "abfss": "abfs"}

#: Bytes of the path of a storage: the rest of the 4095 that Linux takes is for the folders of data
#: sets and the names of files.
MAX_STORAGE_PATH = 3_500

_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")


class WrongStorageUrl(ValueError):
    """Says what is wrong with the form of a URL, as the rest of a sentence that begins with it."""


def require_storage_url(url: str) -> None:
    """One way alone to write each folder, and none that is a whole file system. Raises
    ``WrongStorageUrl``."""
    scheme, separator, rest = url.partition("://")
    if not separator or not stays_inside(rest.removeprefix("/")):
        raise WrongStorageUrl("is no plain folder below the root: give one for Sluice")
    _require_kept(scheme)
    if scheme != scheme.lower():
        raise WrongStorageUrl(f"has its scheme in capitals: write it as {scheme.lower()}://{rest}")
    if scheme == "file" and not rest.startswith("/"):
        raise WrongStorageUrl(f"names a machine: write it as file:///{rest.partition('/')[2]}")
    if len(rest.encode()) > MAX_STORAGE_PATH:
        raise WrongStorageUrl(
            f"has a path of more than {MAX_STORAGE_PATH} bytes, which leaves no room for data sets"
            " and files: give a folder with a shorter path"
        )
    if _ESCAPE.search(rest):
        raise WrongStorageUrl(
            "has escapes (%…): give the folder's name as it is, or another folder"
        )
    if scheme != "file" and set("?#") & set(rest):
        raise WrongStorageUrl("has more than a path (?, #): give the folder alone")


def read_roots(text: str) -> tuple[str, ...]:
    """Words as a shell reads them: URLs, or absolute paths for local folders. Without the slash at
    the end, but for the root. Raises ``ValueError`` with a sentence."""
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
        _require_kept(scheme)
    except WrongStorageUrl as error:
        raise ValueError(f"{word} {error}") from None
    return url if url == "file:///" else url.rstrip("/")


def _require_kept(scheme: str) -> None:
    if scheme.lower() in NOT_DURABLE:
        raise WrongStorageUrl("keeps nothing: each process has a memory of its own")


def contains_url(outer: str, inner: str) -> bool:
    """Is ``inner`` the place ``outer`` or one in it, going by the text? (Hosts and buckets in
    capitals are the same ones.)"""
    outer_at, inner_at = _comparable(outer), _comparable(inner)
    return outer_at[:2] == inner_at[:2] and (inner_at[2] + "/").startswith(outer_at[2] + "/")


def _comparable(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return _ALIASES.get(scheme, scheme), parts.netloc.lower(), parts.path.rstrip("/")
