"""Whether a storage is still the folder that was registered."""

import os

from dms.domain.places import Root
from sluice.storage import StorageUnavailable, local_path


def require_same_folder(root: Root) -> None:
    """Blocks. Raises ``StorageUnavailable`` where links lead to another folder than before: what is
    there is not ours.
    """
    path = local_path(root.url)
    if path is not None and (why := root.moved_to(os.path.realpath(path))) is not None:
        raise StorageUnavailable(root.url, why)
