"""Base classes and types of all requests, answers and messages."""

from datetime import MAXYEAR, MINYEAR, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from sluice.contracts.common.wording import StringRule, in_words, name_rule
from sluice.text.visible_text import quoted

#: Free description of a data set or file: JSON values under short keys.
Metadata = dict[str, Any]

#: Sets and their files are found by name in folders and URLs, so a name is one path component.
Name = Annotated[
    str,
    name_rule("a name", first="A-Za-z0-9_", other="A-Za-z0-9_.+@=,~ -", max_length=200),
]

#: A file's own name: any printable characters but a slash; not ``.`` or ``..``.
FileName = Annotated[
    str,
    StringConstraints(
        pattern=r"^(?:[^./\x00-\x1f]|\.[^./\x00-\x1f]|\.\.[^/\x00-\x1f])[^/\x00-\x1f]*$",
        max_length=240,
    ),
    StringRule(
        "a file's name",
        first=r"[^/\x00-\x1f]",
        other=r"[^/\x00-\x1f]",
        max_length=240,
        rule=(
            "has no slash and no control character (tab, newline), at most 240 bytes, and is"
            " not '.' or '..'"
        ),
    ),
]


def _within_years(time: datetime) -> datetime:
    if not MINYEAR < time.year < MAXYEAR:
        raise in_words(f"a time is in one of the years {MINYEAR + 1} to {MAXYEAR - 1}")
    return time


#: Times cross process boundaries in UTC, with their zone. The first and the last moment that Python
#: knows are infinite in PostgreSQL (asyncpg), and come back without a zone.
Timestamp = Annotated[datetime, AwareDatetime, AfterValidator(_within_years)]


def _absolute_url(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if not separator or not scheme.isalnum() or not rest:
        raise in_words(
            f"{quoted(url)} is not an absolute URL such as file:///data/input or s3://bucket/input"
        )
    if ".." in rest.split("/"):
        raise in_words(f"{quoted(url)} leaves its folder with '..'")
    return url.rstrip("/")


#: Absolute URL of a storage, a folder or a file on a storage; no '..', no slash at the end.
StorageUrl = Annotated[str, AfterValidator(_absolute_url)]

#: The name of a container's image, such as ``registry/path/name:tag``. It is never a URL or an
#: option on a command line.
ImageName = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(?:[:@/][A-Za-z0-9_][A-Za-z0-9._-]*)*$", max_length=255
    ),
    StringRule(
        "an image's name",
        first="[A-Za-z0-9]",
        other="[A-Za-z0-9._:@/-]",
        max_length=255,
        rule=(
            "is written like registry/path/name:tag, of letters, digits and ._-, at most 255, and"
            " no part begins with . or -"
        ),
    ),
]

#: ``sha256:<hex>``.
Checksum = Annotated[
    str,
    StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$"),
    StringRule(
        "a checksum",
        first=".",
        other=r"[\s\S]",
        max_length=71,
        rule="is sha256: and 64 hexadecimal digits (0 to 9, a to f)",
    ),
]

Share = Annotated[float, Field(ge=0.0, le=1.0)]


def tag(value: str) -> Any:
    """Return the default of a discriminator, which is written even where defaults are left out."""
    return Field(default_factory=lambda _: value)


class Contract(BaseModel):
    """An immutable model that refuses unknown fields.

    A misspelt field is an error and does not silently get the default.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class Page(Contract):
    """The position and size of one page of a list.

    Attributes:
        after: The ``after`` of the page before. Empty for the first page.
    """

    after: str | None = None
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1_000
