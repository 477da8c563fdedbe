"""Refuses requests by which a page of another site would change something, also where the network's
guard does not stand in front."""

from flask import request

from sluice.servicekit.csrf import comes_from_elsewhere
from wfms.operator.domain.errors import ForeignRequest


def refuse_foreign_requests() -> None:
    """Raises ``ForeignRequest``."""
    if comes_from_elsewhere(request.method, request.headers):
        raise ForeignRequest("a page of another site may not change anything here")
