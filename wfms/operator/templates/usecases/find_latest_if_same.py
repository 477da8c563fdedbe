"""Find the latest version of a template if it has the same files."""

from typing import TYPE_CHECKING

from sluice.contracts.templates.templates import split_main
from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Connection
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.template import StoredTemplate

if TYPE_CHECKING:
    from sluice.cwl import Upload


async def find_latest_if_same(
    connection: Connection, name: str, upload: "Upload"
) -> StoredTemplate | None:
    """Return the latest version if it has these files.

    The path of a single file does not matter.
    """
    present = await templates.find_latest(connection, name, current_visibility())
    if present is None:
        return None
    process = split_main(present.main, present.files)[1]
    if len(present.files) == len(upload.texts) == 1:
        is_same = split_main(upload.main or "", upload.texts)[1] == process
        return present if is_same and [present.text] == list(upload.texts.values()) else None
    mains = {present.main} if process else {None, present.main}
    return present if present.files == upload.texts and upload.main in mains else None
