"""Check of the depth of types.

The libraries compare types at a cost that doubles with each level.
"""

import re
from collections.abc import Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.documents.types import MAX_TYPE_LEVELS
from sluice.cwl.reading.findings import Findings, text_place
from sluice.cwl.reading.nodes import mappings

_SHORT_ARRAYS = re.compile(r"[^\s\[\]]+((?:\[\]\??)+)")


def check_type_depth(root: Any, findings: Findings) -> bool:
    """Return whether no type of the document is too deep, and report the first that is."""
    for mapping in mappings(root):
        for key, value in mapping.items():
            if _is_too_deep(key, value):
                findings.error(
                    text_place(mapping, key),
                    f"a type has at most {MAX_TYPE_LEVELS} levels of arrays and records, and"
                    " this one has more",
                )
                return False
    return True


def _is_too_deep(key: Any, value: Any) -> bool:
    if isinstance(value, str):
        return _levels(value) > MAX_TYPE_LEVELS
    if key in {"type", "items"}:
        return _levels(value) > MAX_TYPE_LEVELS
    return isinstance(value, CommentedMap) and "items" in value and _levels(value) > MAX_TYPE_LEVELS


def _levels(kind: Any) -> int:
    if isinstance(kind, str):
        arrays = _SHORT_ARRAYS.fullmatch(kind)
        return arrays[1].count("[]") if arrays else 0
    if isinstance(kind, list):
        return max(map(_levels, kind), default=0)
    if not isinstance(kind, Mapping):
        return 0
    inner_levels = max(_levels(kind.get("items")), _field_levels(kind.get("fields")))
    own_levels = _levels(kind.get("type")) if not isinstance(kind.get("type"), str) else 0
    return max(own_levels, 1 + inner_levels if kind.keys() & {"items", "fields"} else 0)


def _field_levels(fields: Any) -> int:
    inner = fields.values() if isinstance(fields, Mapping) else fields
    return max(map(_levels, inner), default=0) if isinstance(fields, (Mapping, list)) else 0
