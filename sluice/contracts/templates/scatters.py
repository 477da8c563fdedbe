"""Texts about the lists over which steps scatter."""

import json
from collections.abc import Mapping
from typing import Any

from sluice.contracts.common.numbers import format_count
from sluice.text.visible_text import quoted

_REMEDY = (
    "give as many of each, or write 'scatterMethod: flat_crossproduct', which takes each with each"
)

#: Characters of a list in a text.
_MAX_TEXT = 200


def value_in_short(value: Any) -> str:
    """Return a value as JSON; of a long list, the beginning and the number of values."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, list) or len(text) <= _MAX_TEXT:
        return text
    return f"{text[:_MAX_TEXT]}… ({format_count(len(value), 'value')})"


def unequal_lists(step: str, sizes: Mapping[str, int], *, files: Mapping[str, int] = {}) -> str:
    """Return why a step cannot take its inputs together, or an empty text.

    Args:
        step: The name of the step.
        sizes: The lengths of lists, by port.
        files: The sizes of data sets, by port.
    """
    if len({*sizes.values(), *files.values()}) <= 1:
        return ""
    descriptions = [
        *(f"{format_count(size, 'file')} at {quoted(port)}" for port, size in files.items()),
        *(f"{format_count(size, 'value')} at {quoted(port)}" for port, size in sizes.items()),
    ]
    return (
        f"step {quoted(step)} pairs its inputs by number, but there are"
        f" {' and '.join(descriptions)}: {_REMEDY}"
    )
