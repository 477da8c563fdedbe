"""``key=value`` texts of the command line and of query strings."""

import json
from collections.abc import Sequence
from typing import Any

from sluice.contracts.bounds import not_finite, shown_number
from sluice.contracts.problems import Unprocessable
from sluice.visible_text import quoted

#: Keys of metadata that one request may filter by.
MAX_FILTERED_KEYS = 20


def json_or_text(text: str) -> Any:
    """Return the value that a text means: JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def metadata_filter(texts: Sequence[str]) -> dict[str, Any]:
    """Return the values that metadata must have.

    Args:
        texts: ``KEY=VALUE`` each.

    Raises:
        Unprocessable: A text has no ``=``, a key comes twice, or JSON has no such number.
    """
    values: dict[str, Any] = {}
    for text in texts:
        key, separator, typed = text.partition("=")
        if not separator or not key:
            raise Unprocessable(f"query.meta: {quoted(text)} is not of the form KEY=VALUE")
        if key in values:
            raise Unprocessable(f"query.meta: {quoted(key)} is given twice: name each key once")
        values[key] = json_or_text(typed)
        if (number := not_finite(values[key])) is not None:
            raise Unprocessable(
                f"query.meta: {quoted(key)}: JSON has no number such as {shown_number(number)}"
            )
    return values
