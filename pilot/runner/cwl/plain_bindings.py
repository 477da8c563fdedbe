"""Bindings of command lines without their places in YAML documents.

cwltool copies the bindings of a command line for each job to sort them. Each copy includes its
place in the document, which costs a twentieth of the slot's time for a small tool. No message needs
the place, as a template is checked before it has jobs.
"""

import copy
from typing import Any

from cwltool import builder, process
from ruamel.yaml.comments import CommentedSeq


class _Bindings(CommentedSeq):  # type: ignore[misc] # ruamel.yaml's types are not followed
    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(binding, memo) for binding in self]


def copy_bindings_plainly() -> None:
    """Make cwltool copy bindings without their places."""
    builder.CommentedMap = dict
    process.CommentedSeq = _Bindings
