"""FastAPI dependencies that give a route the context, the rate limits and the public address."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from sluice.servicekit.web.dependencies import from_app
from wfms.ask.api.browser_rate import BrowserRate
from wfms.ask.usecases.context import AskContext


@dataclass(frozen=True, slots=True)
class PublicAddress:
    """The address under which browsers reach the service.

    Attributes:
        url: The beginning of all URLs, without a slash at its end.
    """

    url: str

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the service over TLS only."""
        return self.url.startswith("https:")


Address = Annotated[PublicAddress, Depends(from_app(PublicAddress))]
Context = Annotated[AskContext, Depends(from_app(AskContext))]
Rate = Annotated[BrowserRate, Depends(from_app(BrowserRate))]
