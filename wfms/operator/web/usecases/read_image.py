"""A picture from a data set, for display on a page."""

from dataclasses import dataclass, replace
from uuid import UUID

import httpx

from sluice.contracts.common.problems import NotFound
from wfms.operator.chains.usecases.data.stream_content import StreamedBody, stream_content
from wfms.operator.web.usecases.file_preview import image_type

#: Bytes of the largest picture that is shown.
MAX_IMAGE_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that is streamed."""

    media: str
    body: StreamedBody


async def read_image(files: httpx.AsyncClient, dataset: UUID, file: int) -> Image:
    """Return a picture whose media type is determined from its first bytes.

    Raises:
        NotFound: The file is no supported picture, is not readable or is larger than
            ``MAX_IMAGE_BYTES``.
        NotAvailable: The DMS does not answer.
    """
    content = await stream_content(files, f"/api/v1/datasets/{dataset}/files/{file}/content")
    head = b""
    if (
        content.status == httpx.codes.OK
        and int(content.headers.get("Content-Length", MAX_IMAGE_BYTES + 1)) <= MAX_IMAGE_BYTES
    ):
        head = await anext(content.body.rest, b"")
    media = image_type(head)
    if media is None:
        await content.body.aclose()
        raise NotFound(f"file {file} of data set {dataset} is not a picture that can be shown")
    return Image(media, replace(content.body, begin=head))
