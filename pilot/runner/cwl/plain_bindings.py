"""A job's bindings without what YAML documents know of their places.

cwltool copies the bindings of a command line once for each job, to sort them, and with them for
each of them where it stands in its document: for a small tool, a twentieth of the slot's work. No
message needs that, for a template is checked, with its lines, before it has jobs."""

import copy
from typing import Any

from cwltool import builder, process
from ruamel.yaml.comments import CommentedSeq


class _Bindings(CommentedSeq):  # type: ignore[misc] # ruamel.yaml's types are not followed
    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(binding, memo) for binding in self]


def copy_bindings_plainly() -> None:
    """Tells cwltool so."""
    builder.CommentedMap = dict
    process.CommentedSeq = _Bindings
