"""Operator services of release 0.1.0 refuse unknown parameters."""

import httpx
import pytest

from sluice.clients.operator import OperatorClient
from sluice.contracts.common.problems import Unprocessable

KNOWN = {"chain", "state", "limit", "all", "after"}


def answer(request: httpx.Request) -> httpx.Response:
    """Answer like release 0.1.0."""
    wrong = [f"query.{name}: Extra inputs are not permitted" for name in request.url.params]
    refused = [
        text for text, name in zip(wrong, request.url.params, strict=True) if name not in KNOWN
    ]
    if refused:
        problem = {"title": "wrong", "status": 422, "detail": "; ".join(refused)}
        return httpx.Response(422, json=problem)
    lists: dict[str, object] = (
        {"chains": [], "next": None} if "chains" in request.url.path else {"tasks": []}
    )
    return httpx.Response(200, json={"templates": []} if "templates" in request.url.path else lists)


async def test_lists_are_requested_without_parameters_unknown_to_the_service() -> None:
    transport = httpx.MockTransport(answer)
    async with httpx.AsyncClient(transport=transport, base_url="http://old") as http:
        operator = OperatorClient(http)
        assert (await operator.tasks(paged=True, full=True)).tasks == []
        assert (await operator.templates(disabled=True)).templates == []
        assert (await operator.chains()).chains == []
        with pytest.raises(Unprocessable, match="owner"):
            await operator.chains(owner="anna")
