"""Serve logs from a test's folder, as the DMS does."""

from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse

from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.states import StorageType
from tests.integration.operator.fakes.rows import Rows


def make_log_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/logs", response_class=Response)
    def log(url: str) -> Response:
        """Answer range requests, too."""
        roots = [storage.url for storage in rows.storages if storage.type is StorageType.LOGS]
        if not any(url.startswith(f"{root}/") for root in roots):
            raise Unprocessable(f"log: {url} is on none of the storages for logs")
        path = Path(url.removeprefix("file://"))
        if not path.is_file():
            raise NotFound("the log has been deleted", url=url)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    return router
