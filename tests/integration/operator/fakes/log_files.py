"""Serve logs from a test's folder, as the DMS does."""

from pathlib import Path

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse

from sluice.contracts.common.problems import NotFound


def log_routes() -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/logs", response_class=Response)
    def log(url: str) -> Response:
        """Answer range requests, too."""
        path = Path(url.removeprefix("file://"))
        if not path.is_file():
            raise NotFound("the log has been deleted")
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    return router
