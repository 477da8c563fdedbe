"""Tests that all services refuse numbers that JSON does not have and name their position."""

from typing import Any

import httpx
import pytest
from fastapi import APIRouter

from sluice.contracts.common.base import Contract
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.callers import allow_everybody, open_to_all


class Free(Contract):
    """A body with arbitrary content."""

    any: Any = None
    text: str = ""


def make_client() -> httpx.AsyncClient:
    router = APIRouter()

    @router.post("/free")
    async def free(body: Free) -> Free:
        return body

    app = create_app("x", [open_to_all(router)], health=Health({}), metrics=ServiceMetrics())
    transport = httpx.ASGITransport(allow_everybody(app))
    return httpx.AsyncClient(transport=transport, base_url="http://x")


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ('{"any": NaN}', "body.any"),
        ('{"any": {"a": [1, Infinity]}}', "body.any.a.1"),
        ('{"any": -1e400}', "body.any"),
        ('{"any": [1E+309]}', "body.any.0"),
        ('{"any": 1' + "0" * 400 + ".0}", "body.any"),
        ('{"any": 1' + "0" * 250 + "e99}", "body.any"),
    ],
    ids=["NaN", "Infinity", "1e400", "1E+309", "400 digits", "digits and exponent"],
)
@pytest.mark.parametrize("media", ["application/json", "application/merge-patch+json", ""])
async def test_number_that_json_does_not_have_is_refused_with_its_position(
    body: str, place: str, media: str
) -> None:
    async with make_client() as http:
        headers = {"content-type": media} if media else {}
        answer = await http.post("/free", content=body.encode(), headers=headers)
    assert answer.status_code == 422
    [finding] = answer.json()["findings"]
    assert finding["message"].startswith(f"{place}: JSON has no number such as")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be"])
async def test_body_in_another_encoding_is_refused(encoding: str) -> None:
    async with make_client() as http:
        headers = {"content-type": "application/json"}
        answer = await http.post("/free", content='{"any": NaN}'.encode(encoding), headers=headers)
    assert answer.status_code == 422
    assert "not in UTF-8" in answer.json()["detail"]


@pytest.mark.parametrize(
    "body",
    ['{"any": "NaN", "text": "Infinity"}', '{"any": [1e308, 1E-400, -0.0, 1e+300]}', "{}"],
)
async def test_valid_json_numbers_and_strings_are_accepted(body: str) -> None:
    async with make_client() as http:
        headers = {"content-type": "application/json"}
        answer = await http.post("/free", content=body.encode(), headers=headers)
    assert answer.status_code == 200


async def test_number_that_is_split_between_parts_of_a_body_is_refused() -> None:
    async def parts() -> Any:
        for part in ('{"any": N', "a", "N}"):
            yield part.encode()

    async with make_client() as http:
        headers = {"content-type": "application/json"}
        answer = await http.post("/free", content=parts(), headers=headers)
    assert answer.status_code == 422
