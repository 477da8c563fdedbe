"""Return the image of an item."""

import asyncio
from uuid import UUID

import structlog

from sluice.contracts.common.problems import NotAvailable, NotFound
from sluice.contracts.human_tasks.ask import Show
from sluice.storage.errors import StorageError
from sluice.storage.reader import open_reader
from wfms.ask.db.assignments import ItemSource, find_assigned_item
from wfms.ask.domain.contents import MAX_IMAGE_BYTES, UnreadableContent, read_shown_image
from wfms.ask.usecases.annotator_session import AnnotatorSession
from wfms.ask.usecases.context import AskContext

log = structlog.get_logger(__name__)


async def get_image(
    context: AskContext, session: AnnotatorSession, item: UUID
) -> tuple[bytes, str]:
    """Return the bytes and the media type of the image of an item.

    Raises:
        NotFound: The browser was not shown the item, or the item is no image.
        NotAvailable: The file cannot be read. The message does not name the file, because the name
            would reveal gold items.
    """
    async with context.database.connection() as connection:
        source = await find_assigned_item(connection, session.browser.uid, item)
    if source is None or session.ask.show is not Show.IMAGE:
        raise NotFound("this browser was not shown such an image")
    try:
        return await asyncio.to_thread(_read, source)
    except (UnreadableContent, StorageError) as error:
        log.warning("ask.image_unreadable", item=str(item), url=source.file.url, reason=str(error))
        raise NotAvailable("the image cannot be read now") from error


def _read(item: ItemSource) -> tuple[bytes, str]:
    """Read the image from its file.

    Raises:
        UnreadableContent: The file has no such image.
        StorageError: The storage does not answer.
    """
    with open_reader(item.file.url) as reader:
        if item.line is not None:
            return read_shown_image(reader.read(*item.line))
        return read_shown_image(reader.read(0, MAX_IMAGE_BYTES))
