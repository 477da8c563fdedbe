"""Texts of the form ``key=value`` on the command line and in query strings."""

import json
from collections.abc import Sequence
from typing import Any

from sluice.contracts.common.bounds import describe_number, find_non_finite
from sluice.contracts.common.problems import Unprocessable
from sluice.text.visible_text import quoted

#: Maximum number of metadata keys that one request may filter by.
MAX_FILTERED_KEYS = 20


def json_or_text(text: str) -> Any:
    """Return the value of a text: the parsed JSON, or the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def metadata_filter(texts: Sequence[str]) -> dict[str, Any]:
    """Return the metadata values that a query asks for.

    Args:
        texts: Conditions of the form ``KEY=VALUE``.

    Raises:
        Unprocessable: A text has no key or no ``=``, a key is repeated, or a number is not finite.
    """
    values: dict[str, Any] = {}
    for text in texts:
        key, separator, typed = text.partition("=")
        if not separator or not key:
            raise Unprocessable(f"query.meta: {quoted(text)} is not of the form KEY=VALUE")
        if key in values:
            raise Unprocessable(f"query.meta: {quoted(key)} is given twice: name each key once")
        values[key] = json_or_text(typed)
        if (number := find_non_finite(values[key])) is not None:
            raise Unprocessable(
                f"query.meta: {quoted(key)}: JSON has no number such as {describe_number(number)}"
            )
    return values
