"""Reads a picture out of a data set, for a page to show."""

from dataclasses import dataclass, replace
from uuid import UUID

import httpx

from sluice.contracts.problems import NotFound
from wfms.operator.usecases.preview_file import image_type
from wfms.operator.usecases.stream_content import StreamedBody, stream_content

#: Bytes of the largest picture that is shown.
LARGEST = 20_000_000


@dataclass(frozen=True, slots=True)
class Image:
    media: str
    body: StreamedBody


async def read_image(files: httpx.AsyncClient, dataset: UUID, file: int) -> Image:
    """Effect: none. What it is is told by its beginning. Raises ``NotFound`` where the file is no
    picture that is shown, cannot be read, or is larger than ``LARGEST``; ``NotAvailable``.
    """
    content = await stream_content(files, f"/api/v1/datasets/{dataset}/files/{file}/content")
    head = b""
    if (
        content.status == httpx.codes.OK
        and int(content.headers.get("Content-Length", LARGEST + 1)) <= LARGEST
    ):
        head = await anext(content.body.rest, b"")
    media = image_type(head)
    if media is None:
        await content.body.aclose()
        raise NotFound(f"file {file} of data set {dataset} is no picture that can be shown")
    return Image(media, replace(content.body, begin=head))
