"""Routes that serve content: a file or a part of it, a log, or an archive of data sets."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Query, Request, Response

from dms.api.dependencies import Context
from dms.api.files import FileId
from dms.domain.ranges import RangeNotSatisfiable, Span, names_tag, parse_range
from dms.usecases.files.file_content import FileContent
from dms.usecases.files.open_content import open_content
from dms.usecases.files.open_log import open_log
from dms.usecases.files.pack_archive import ArchiveParts, pack_archive
from dms.usecases.files.stream_content import stream_content
from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.base import StorageUrl
from sluice.contracts.common.problems import (
    Conflict,
    NotAvailable,
    NotFound,
    Problem,
    Unprocessable,
)
from sluice.contracts.data.datasets import ArchiveFormat
from sluice.servicekit.access.policy import allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors, problem_response
from sluice.servicekit.web.openapi import declare_problem
from sluice.servicekit.web.streaming import FOREIGN_CONTENT, Streamed, attachment

_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The whole content.", "content": _BYTES},
    206: {"description": "The requested range.", "content": _BYTES},
    304: {"description": "The content matches `If-None-Match`."},
    416: declare_problem("The range begins after the end."),
}
_CONTENT_RESPONSES = _CONTENT | errors(NotFound, Unprocessable, NotAvailable)
_CONTENT_PATH = "/datasets/{uid}/files/{file}/content"
_MEDIA = {ArchiveFormat.ZIP: "application/zip", ArchiveFormat.TAR: "application/x-tar"}
_ARCHIVE = {media: {"schema": {"type": "string", "format": "binary"}} for media in _MEDIA.values()}
_ARCHIVE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The archive.", "content": _ARCHIVE},
    **errors(NotFound, Conflict, Unprocessable, NotAvailable),
}


router = api_router("/api/v1", tags=["content"])


@router.get(
    "/archive", operation_id="read_archive", response_class=Response, responses=_ARCHIVE_RESPONSES
)
@allow(Role.VIEWER, CallingService.OPERATOR)
async def read_archive_route(
    context: Context, parts: Annotated[ArchiveParts, Query()], visibility: CallerVisibility
) -> Response:
    """Send all files of data sets as one archive, which is created while it is sent.

    It breaks off before its end if a file cannot be read, or is not as it was registered.
    """
    archive = await pack_archive(context, parts, visibility)
    headers = {
        "Content-Type": _MEDIA[parts.format],
        "Content-Disposition": attachment(f"{parts.name}.{parts.format}"),
    }
    return Streamed(archive, headers=headers | FOREIGN_CONTENT)


# The names of functions are in the operation ids of their HEAD routes.
@router.get(
    _CONTENT_PATH,
    operation_id="read_content",
    response_class=Response,
    responses=_CONTENT_RESPONSES,
)
@router.head(_CONTENT_PATH, response_class=Response, responses=_CONTENT_RESPONSES)
@allow(Role.VIEWER, CallingService.OPERATOR)
async def content(context: Context, uid: UUID, file: FileId, request: Request) -> Response:
    """Send the content of a file.

    `Range`, `If-Range` and `If-None-Match` are supported; the entity tag is the checksum.

    A whole file is compared with its checksum while it is sent. If they differ, the answer
    breaks off before its end.
    """
    return _answer(request, await open_content(context, uid, file))


@router.get("/logs", operation_id="read_log", response_class=Response, responses=_CONTENT_RESPONSES)
@router.head("/logs", response_class=Response, responses=_CONTENT_RESPONSES)
@allow(Role.VIEWER, CallingService.OPERATOR)
async def log(
    context: Context,
    url: Annotated[StorageUrl, Query(description="The URL of the log, on a storage for logs.")],
    request: Request,
    visibility: CallerVisibility,
) -> Response:
    """Send the log of a job, or a range of it."""
    return _answer(request, await open_log(context, url, visibility))


def _answer(request: Request, content: FileContent) -> Response:
    """Answer a conditional or range request by RFC 9110, with at most one range."""
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": attachment(content.name),
        "Content-Type": "application/octet-stream",
    } | FOREIGN_CONTENT
    tag = None if content.checksum is None else f'"{content.checksum}"'
    if tag is not None:
        headers["ETag"] = tag
    request_headers = request.headers
    if tag is not None and names_tag(request_headers.get("If-None-Match"), tag):
        return _without_body(content, 304, headers)
    ranged = "If-Range" not in request_headers or request_headers["If-Range"].strip() == tag
    try:
        span = (
            parse_range(request_headers.get("Range"), size=content.size)
            if ranged and request.method == "GET"
            else None
        )
    except RangeNotSatisfiable:
        content.file.release()
        problem = Problem(
            title="Range not satisfiable", status=416, detail=f"there are {content.size} bytes"
        )
        answer = problem_response(problem)
        answer.headers["Content-Range"] = f"bytes */{content.size}"
        return answer
    full_span = Span(0, content.size)
    if span is not None:
        headers["Content-Range"] = f"bytes {span.start}-{span.end - 1}/{content.size}"
    headers["Content-Length"] = str((span or full_span).length)
    if request.method == "HEAD":
        return _without_body(content, 200, headers)
    body = stream_content(content, span or full_span)
    return Streamed(body, status=200 if span is None else 206, headers=headers)


def _without_body(content: FileContent, status: int, headers: dict[str, str]) -> Response:
    content.file.release()
    return Response(status_code=status, headers=headers)
