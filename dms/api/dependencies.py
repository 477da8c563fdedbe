"""FastAPI dependencies that give a route the context and the functions that wake loops."""

from typing import Annotated

from fastapi import Depends

from dms.usecases.context import DmsContext
from dms.usecases.wakes import DmsWakes
from sluice.servicekit.web.dependencies import from_app

Context = Annotated[DmsContext, Depends(from_app(DmsContext))]
Wakes = Annotated[DmsWakes, Depends(from_app(DmsWakes))]
