"""The digest of the template of a one-off run."""

import hashlib
import json
from importlib.metadata import version
from typing import TYPE_CHECKING

from sluice.contracts.access.owners import EVERYONE

if TYPE_CHECKING:
    from sluice.cwl import Upload


def compute_digest(name: str, upload: "Upload", group: str) -> bytes:
    """Return a digest of all that determines the plan and the owner.

    It includes the release, because another release may compile the files to another plan.
    """
    content = [version("sluice"), name, upload.main, sorted(upload.texts.items())]
    content += [] if group == EVERYONE else [group]
    return hashlib.sha256(json.dumps(content).encode()).digest()
