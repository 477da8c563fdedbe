"""Lists that steps scatter over, in words: what is wrong with them, and what is in them."""

import json
from collections.abc import Mapping
from typing import Any

from sluice.contracts.numbers import counted

_WAY = (
    "give as many of each, or write 'scatterMethod: flat_crossproduct', which takes each with each"
)

#: Characters of a list that are shown.
_SHOWN = 200


def value_in_short(value: Any) -> str:
    """A parameter's value as JSON; of a long list its beginning, and how many it has."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, list) or len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}… ({counted(len(value), 'value')})"


def unequal_lists(step: str, sizes: Mapping[str, int], *, files: Mapping[str, int] = {}) -> str:
    """What is wrong with what step ``step`` takes together: ``sizes`` of lists, and of data sets
    (``files``), by port. Empty: nothing."""
    if len({*sizes.values(), *files.values()}) <= 1:
        return ""
    told = [
        *(f"{counted(size, 'file')} at '{port}'" for port, size in files.items()),
        *(f"{counted(size, 'value')} at '{port}'" for port, size in sizes.items()),
    ]
    return (
        f"step '{step}' takes those of the same number of its inputs together, and there are"
        f" {' and '.join(told)}: {_WAY}"
    )
