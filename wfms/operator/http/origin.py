"""Protection against cross-site request forgery, also where no gateway checks requests."""

from flask import request

from sluice.servicekit.web.csrf import comes_from_elsewhere
from wfms.operator.errors import ForeignRequest


def refuse_foreign_requests() -> None:
    """Refuse a request by which a page of another site would change something.

    Raises:
        ForeignRequest: The request comes from a page of another site.
    """
    if comes_from_elsewhere(request.method, request.headers):
        raise ForeignRequest("requests from pages of other sites are refused")
