"""Check that a storage is still the folder that was registered."""

import os

from dms.domain.places import Root
from sluice.storage import StorageUnavailable, find_local_path


def require_same_folder(root: Root) -> None:
    """Check that links do not lead to another folder than before. Blocks.

    Raises:
        StorageUnavailable: The storage is another folder now, whose files are not Sluice's.
    """
    path = find_local_path(root.url)
    if path is not None and (why := root.moved_to(os.path.realpath(path))) is not None:
        raise StorageUnavailable(root.url, why)
