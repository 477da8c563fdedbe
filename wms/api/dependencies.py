"""FastAPI dependencies that give a route the context."""

from typing import Annotated

from fastapi import Depends

from sluice.servicekit.web.dependencies import from_app
from wms.usecases.context import WmsContext

Context = Annotated[WmsContext, Depends(from_app(WmsContext))]
