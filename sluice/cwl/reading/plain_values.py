"""Values of unquoted YAML scalars. They follow YAML 1.2, as in CWL and cwltool."""

import math
from functools import lru_cache
from typing import Any

from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.resolver import VersionedResolver

from sluice.text.numbers import fit_whole_number, read_number

#: The beginning of the tags of YAML's own types.
CORE_TAG = "tag:yaml.org,2002:"
_TRUTH = {"true": True, "false": False}
#: Characters that a scalar other than text may start with.
_NOT_TEXT = frozenset("0123456789+-.~nNtTfF")
_RESOLVER = VersionedResolver()


@lru_cache(maxsize=4096)
def plain_value(text: str) -> Any:
    """Return the value of an unquoted YAML 1.2 scalar. Dates stay text, because JSON has none.

    Raises:
        ValueError: The text has the form of a number without digits (``._``, ``0o_``). Other
            runners do not read it either.
    """
    if len(text) > 64 or (text and text[0] not in _NOT_TEXT):
        return text
    tag = str(_RESOLVER.resolve(ScalarNode, text, (True, False))).removeprefix(CORE_TAG)
    match tag:
        case "null":
            return None
        case "bool":
            return _TRUTH[text.lower()]
        case "int":
            return fit_whole_number(_integer(text.replace("_", "")))
        case "float":
            return _number(text.replace("_", "").lower())
    return text


def _integer(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-").lower()
    for prefix, base in (("0b", 2), ("0o", 8), ("0x", 16)):
        if digits.startswith(prefix):
            return sign * int(digits[2:], base)
    return sign * int(digits)


def _number(text: str) -> float | int:
    if text.endswith(".inf"):
        return -math.inf if text.startswith("-") else math.inf
    return math.nan if text == ".nan" else read_number(text)
