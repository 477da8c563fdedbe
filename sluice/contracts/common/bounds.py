"""Limits on the free-form content of requests.

Answers and messages have no such limits: data that was stored before the limits existed is still
read and sent between services.
"""

import math
from collections.abc import Callable
from typing import Annotated, Any

import pydantic_core
from pydantic import AfterValidator, Field

from sluice.contracts.common.base import FileName, Metadata, StorageUrl
from sluice.contracts.common.naming import MAX_NAME_BYTES, name_bytes
from sluice.contracts.common.wording import in_words
from sluice.text.visible_text import quoted

#: The most bytes of metadata as JSON.
MAX_META = 64 * 1024
#: The most bytes that a chain adds to the metadata that its data sets inherit from its input.
MAX_ADDED = 16 * 1024
#: The most bytes of the values of a chain's parameters as JSON.
MAX_PARAMS = 1024 * 1024
#: The most levels of nested objects and lists.
MAX_DEPTH = 32
#: The most characters of a text, of a URL, and of a word.
MAX_TEXT, MAX_URL, MAX_WORD = 4_000, 4_096, 255
#: The most GPUs of a node. Each may be divided into seven.
MAX_GPUS = 256


def json_check(subject: str, limit: int, remedy: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a check for JSON objects that are too large, too deep or not valid JSON.

    Args:
        subject: What the error message says is wrong.
        limit: The maximum size as JSON in bytes.
        remedy: What the error message says to do instead.
    """

    def check(value: dict[str, Any]) -> dict[str, Any]:
        if not value:
            return value
        if is_deeper_than(value, MAX_DEPTH):
            raise in_words(
                f"{subject} may nest objects and lists at most {MAX_DEPTH} levels deep: {remedy}"
            )
        content = pydantic_core.to_json(value, inf_nan_mode="null")
        if len(content) > limit:
            raise in_words(
                f"{subject} may have {limit} bytes as JSON, and these have {len(content)}: {remedy}"
            )
        # JSON has no number for NaN and infinity. Null would be stored instead.
        if b"null" in content and (number := find_non_finite(value)) is not None:
            raise in_words(
                f"{subject} must not contain {describe_number(number)}, which JSON does not have:"
                " give it as text"
            )
        return value

    return check


def is_deeper_than(value: object, limit: int) -> bool:
    """Return whether a value nests objects and lists deeper than ``limit`` levels.

    It goes level by level, so deep input cannot exhaust the stack.
    """
    level = [value]
    if isinstance(value, dict) and not any(
        isinstance(inner, dict | list) for inner in value.values()
    ):
        return limit < 1
    for _ in range(limit + 1):
        level = [
            inner
            for part in level
            if isinstance(part, dict | list)
            for inner in (part.values() if isinstance(part, dict) else part)
        ]
        if not level:
            return False
    return True


def describe_number(number: float) -> str:
    """Return a number that JSON does not have as messages show it."""
    beyond = " (numbers beyond 1.8e308 become that)" if math.isinf(number) else ""
    return f"{quoted(number)}{beyond}"


def find_non_finite(value: object) -> float | None:
    """Return a number in the value that is infinite or NaN, or None."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, float) and not math.isfinite(part):
            return part
        if isinstance(part, dict | list):
            waiting += part.values() if isinstance(part, dict) else part
    return None


_REMEDY = "store larger values in a file of a data set"
check_meta = json_check("metadata", MAX_META, _REMEDY)
check_inherited = json_check("metadata", MAX_META + MAX_ADDED, _REMEDY)
check_origin = json_check("the origin of a file", MAX_META, "shorten the description of the origin")

#: Metadata in a request.
NewMetadata = Annotated[
    Metadata,
    AfterValidator(check_meta),
    Field(description=f"At most {MAX_META} bytes as JSON, nested at most {MAX_DEPTH} deep."),
]

#: Values of parameters in a request.
NewParams = Annotated[
    dict[str, Any],
    AfterValidator(json_check("values of parameters", MAX_PARAMS, "give larger values as a file")),
    Field(description=f"At most {MAX_PARAMS} bytes as JSON, nested at most {MAX_DEPTH} deep."),
]

#: Text in a request.
NewText = Annotated[str, Field(max_length=MAX_TEXT)]
NewWord = Annotated[str, Field(max_length=MAX_WORD)]


def require_short_name(name: str) -> str:
    """Return the name of a new file.

    Raises:
        PydanticCustomError: It has more bytes than may be.
    """
    if (size := name_bytes(name)) > MAX_NAME_BYTES:
        raise in_words(
            f"the name of a file may have {MAX_NAME_BYTES} bytes in UTF-8, and {quoted(name)} has"
            f" {size}: rename the file"
        )
    return name


NewFileName = Annotated[FileName, AfterValidator(require_short_name)]
NewUrl = Annotated[StorageUrl, Field(max_length=MAX_URL)]
