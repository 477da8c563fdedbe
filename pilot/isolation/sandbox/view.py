"""View of a program in a sandbox: the files of its job."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: Default size of shared memory in bytes.
SHARED_MEMORY = 1 << 30


@dataclass(frozen=True, slots=True)
class VisibleFile:
    """A file or folder of the node that a program sees.

    A later file of a view is mounted inside earlier ones.

    Attributes:
        path: The path at which the program sees it.
        source: The path on the node, which has no links.
    """

    path: str
    source: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """The files that a program sees.

    Attributes:
        links: The targets of further names.
        shared_memory: The size of ``/dev/shm`` in bytes.
        changing: Folders whose files change while it runs.
    """

    files: Sequence[VisibleFile]
    links: Mapping[str, str] = field(default_factory=dict)
    shared_memory: int = SHARED_MEMORY
    changing: Sequence[str] = ()


def links_to(name: str, real_path: str) -> dict[str, str]:
    """Return a link for a folder with a second name, in place of its parent folder."""
    return {} if name == real_path else {os.path.dirname(name): os.path.dirname(real_path)}
