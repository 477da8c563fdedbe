"""CWL values in files: which values can be stored, and bundles of a value with its files."""

from sluice.cwl_values.bundles import BundleError, find_free_name, pack, unpack
from sluice.cwl_values.values import (
    MAX_FOLDERS,
    MAX_JSON,
    MAX_NESTED,
    UnstorablePart,
    find_unstorable_part,
    read_json,
)

__all__ = [
    "MAX_FOLDERS",
    "MAX_JSON",
    "MAX_NESTED",
    "BundleError",
    "UnstorablePart",
    "find_free_name",
    "find_unstorable_part",
    "pack",
    "read_json",
    "unpack",
]
