"""What a program in a sandbox sees beside the system: its job's files."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: Bytes, where nothing else is said.
SHARED_MEMORY = 1 << 30


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file or folder of the node, ``source`` (without links on the way to it), that a program
    sees at ``path``. What stands later in a view is put into what stands earlier."""

    path: str
    source: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """``links``: further names, path → where it leads. ``shared_memory``: bytes that the program
    may put into ``/dev/shm``. ``changing``: folders whose files change while it runs."""

    files: Sequence[SeenFile]
    links: Mapping[str, str] = field(default_factory=dict)
    shared_memory: int = SHARED_MEMORY
    changing: Sequence[str] = ()


def links_to(known: str, real: str) -> dict[str, str]:
    """Links for a folder that goes by another name as well: in place of the folder that it lies
    in."""
    return {} if known == real else {os.path.dirname(known): os.path.dirname(real)}
