"""Routes that stream files, logs and archives from the DMS, and all annotations of a step.

These are not Flask routes: a Flask request keeps its thread until the response has been read. A few
slow readers would block the pages.
"""

from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from fastapi import Depends, Path, Query, Request, Response

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.data.datasets import ArchiveFormat
from sluice.servicekit.access.policy import allow
from sluice.servicekit.web.dependencies import from_app
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.streaming import FOREIGN_CONTENT, Streamed
from sluice.text.visible_text import quoted
from wfms.operator.chains.usecases.chains.get_finished_outputs import get_finished_outputs
from wfms.operator.chains.usecases.chains.get_remaining_outputs import get_remaining_outputs
from wfms.operator.chains.usecases.data.stream_content import StreamedContent, stream_content
from wfms.operator.chains.usecases.steps.get_log_place import get_log_place
from wfms.operator.context import OperatorContext
from wfms.operator.web.usecases.read_image import read_image

_SCHEMA = {"schema": {"type": "string", "format": "binary"}}
_BYTES = {"description": "The whole content.", "content": {"application/octet-stream": _SCHEMA}}
_ARCHIVE = {
    "description": "The archive.",
    "content": {"application/zip": _SCHEMA, "application/x-tar": _SCHEMA},
}
_RANGED: dict[int | str, dict[str, Any]] = {
    200: _BYTES,
    206: _BYTES | {"description": "The requested range."},
    304: {"description": "The content matches `If-None-Match`."},
}
_LINES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/jsonl": {"schema": {"type": "string"}}}}
}
_CONTENT_RESPONSES = _RANGED | errors(NotFound, Unprocessable, NotAvailable)
_CONTENT_PATH = "/datasets/{uid}/files/{file}/content"
_LOG_PATH = "/jobs/{job}/log/content"
_ARCHIVE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: _ARCHIVE,
    **errors(NotFound, Conflict, Unprocessable, NotAvailable),
}

Context = Annotated[OperatorContext, Depends(from_app(OperatorContext))]
FileId = Annotated[int, Path(ge=1, le=2**63 - 1)]
JobId = Annotated[int, Path(ge=1, le=2**63 - 1)]
PathName = Annotated[str, Path(min_length=1, max_length=300)]
Format = Annotated[ArchiveFormat, Query(description="A zip has at most 50 000 files.")]

Partial = Annotated[
    bool,
    Query(
        description="Include what is left of the outputs and logs of all steps of an ended"
        " chain, each in a folder."
    ),
]


router = api_router("/api/v1")


# The names of functions are in the operation ids of their HEAD routes.
@router.get(
    _CONTENT_PATH,
    operation_id="read_content",
    response_class=Response,
    responses=_CONTENT_RESPONSES,
)
@router.head(_CONTENT_PATH, response_class=Response, responses=_CONTENT_RESPONSES)
@allow(Role.VIEWER)
async def content(context: Context, uid: UUID, file: FileId, request: Request) -> Response:
    """Send the content of a file unchanged.

    `Range`, `If-Range` and `If-None-Match` are supported. The entity tag is the checksum.
    """
    return _stream_response(
        await stream_content(
            context.files, request.url.path, method=request.method, request_headers=request.headers
        )
    )


@router.get(
    _LOG_PATH, operation_id="read_log", response_class=Response, responses=_CONTENT_RESPONSES
)
@router.head(_LOG_PATH, response_class=Response, responses=_CONTENT_RESPONSES)
@allow(Role.VIEWER)
async def log(
    context: Context, job: JobId, request: Request, attempt: int | None = None
) -> Response:
    """Send the stored log of a job, or a `Range` of it.

    The default is the log of the last attempt that has one.
    """
    place = await get_log_place(context.wms, job, attempt=attempt)
    query = {"url": place.url}
    return _stream_response(
        await stream_content(
            context.files,
            "/api/v1/logs",
            method=request.method,
            query=query,
            request_headers=request.headers,
        )
    )


@router.get(
    "/datasets/{uid}/archive",
    operation_id="read_dataset_archive",
    response_class=Response,
    responses=_ARCHIVE_RESPONSES,
)
@allow(Role.VIEWER)
async def read_dataset_archive_route(
    context: Context, uid: UUID, format: Format = ArchiveFormat.ZIP
) -> Response:
    """Send all files of a data set as one archive.

    The archive is created while it is sent. It breaks off at a damaged file.
    """
    dataset = await context.dms.get_dataset(uid)
    query = {"dataset_uid": str(uid), "format": format.value, "name": dataset.name}
    return _stream_response(await stream_content(context.files, "/api/v1/archive", query=query))


@router.get(
    "/chains/{uid}/archive",
    operation_id="read_chain_archive",
    response_class=Response,
    responses=_ARCHIVE_RESPONSES,
)
@allow(Role.VIEWER)
async def read_chain_archive_route(
    context: Context, uid: UUID, format: Format = ArchiveFormat.ZIP, partial: Partial = False
) -> Response:
    """Send all outputs of a finished chain as one archive.

    If there are several outputs, each has its own folder.
    """
    if partial:
        return await _archive_remaining_outputs(context, uid, format)
    chain, outputs = await get_finished_outputs(context, uid)
    query = {
        "dataset_uid": [str(output.dataset.uid) for output in outputs],
        "folder": [output.name for output in outputs] if len(outputs) > 1 else [],
        "format": format.value,
        "name": f"{chain.dataset_name}.{chain.template}"[:200],
    }
    return _stream_response(await stream_content(context.files, "/api/v1/archive", query=query))


@router.get(
    "/asking/steps/{group}/{template}/{step}/answers",
    operation_id="export_answers",
    response_class=Response,
    responses=_LINES | errors(NotFound, Unprocessable, NotAvailable),
)
@allow(Role.VIEWER)
async def export_answers_route(
    context: Context, group: PathName, template: PathName, step: PathName
) -> Response:
    """Send all annotations of a step as JSON Lines, also those that do not count."""
    names = (group, template, step)
    if invalid_names := {".", ".."} & set(names):
        raise Unprocessable(f"{quoted(invalid_names.pop())} is not a valid name")
    place = "/".join(quote(name, safe="") for name in names)
    path = f"/api/v1/asking/steps/{place}/answers"
    return _stream_response(await stream_content(context.answers, path, service="wfms.ask"))


images_router = api_router()


@images_router.get("/datasets/{uid}/files/{file}/image", include_in_schema=False)
@allow(Role.VIEWER)
async def image_route(context: Context, uid: UUID, file: FileId) -> Response:
    """Send an image file for a page."""
    content = await read_image(context.files, uid, file)
    return Streamed(
        content.body,
        headers={"Content-Type": content.media, "Cache-Control": "private"} | FOREIGN_CONTENT,
    )


def _stream_response(content: StreamedContent) -> Response:
    return Streamed(content.body, status=content.status, headers=content.headers | FOREIGN_CONTENT)


async def _archive_remaining_outputs(
    context: OperatorContext, uid: UUID, format: ArchiveFormat
) -> Response:
    partial = await get_remaining_outputs(context, uid)
    chain = partial.chain
    query = {
        "dataset_uid": [str(part.dataset.uid) for part in partial.outputs if part.dataset],
        "folder": [part.folder for part in partial.outputs],
        "format": format.value,
        "name": f"{chain.dataset_name}.{chain.template}"[:190] + ".partial",
    }
    return _stream_response(await stream_content(context.files, "/api/v1/archive", query=query))
