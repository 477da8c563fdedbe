"""Calls of service clients over httpx's mock transport: answers, errors, and retries."""

from collections.abc import Callable

import httpx
import pytest

from sluice.clients.base import ServiceClient
from sluice.clients.wms import WmsClient
from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import (
    Conflict,
    Finding,
    NotAvailable,
    NotFound,
    ServiceError,
    Unprocessable,
)
from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.tasks import Explanation, Prioritise

Handler = Callable[[httpx.Request], httpx.Response]


def make_client(handler: Handler) -> ServiceClient:
    return ServiceClient(
        httpx.AsyncClient(transport=httpx.MockTransport(handler), base_url="http://wms")
    )


async def test_call_sends_body_and_parameters_and_reads_the_answer() -> None:
    requests: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json={"text": "waits for files"})

    answer = await make_client(handler).call(
        "POST",
        "/api/v1/x",
        body=Prioritise(rank=2.5),
        answer=Explanation,
        params={"uid": ["a", "b"], "none": None, "flag": True, "limit": 3},
    )
    assert answer == Explanation(text="waits for files")
    assert str(requests[0].url) == "http://wms/api/v1/x?uid=a&uid=b&flag=true&limit=3"
    assert (requests[0].content, requests[0].headers["content-type"]) == (
        b'{"rank":2.5}',
        "application/json",
    )


@pytest.mark.parametrize("kind", [NotFound, Conflict, Unprocessable])
async def test_problem_document_is_raised_as_its_own_exception(kind: type[ServiceError]) -> None:
    problem = kind(
        "task 7 is finished", findings=[Finding(message="late", line=3)], state=TaskState.FINISHED
    ).problem()
    calls = 0

    def handler(_: httpx.Request) -> httpx.Response:
        nonlocal calls
        calls += 1
        return httpx.Response(kind.status, text=problem.model_dump_json())

    with pytest.raises(kind) as caught:
        await make_client(handler).call("GET", "/x")
    assert caught.value.detail == "task 7 is finished"
    assert caught.value.findings == [Finding(message="late", line=3)]
    assert caught.value.fields["state"] == TaskState.FINISHED
    assert calls == 1


async def test_unknown_fields_of_a_problem_and_its_findings_are_ignored() -> None:
    document = Unprocessable("no", findings=[Finding(message="late")]).problem().model_dump()
    document["findings"][0]["later"] = document["later"] = 1
    with pytest.raises(Unprocessable) as caught:
        await make_client(lambda _: httpx.Response(422, json=document)).call("GET", "/x")
    assert (caught.value.detail, caught.value.findings) == ("no", [Finding(message="late")])


async def test_error_without_problem_document_keeps_status_and_text() -> None:
    with pytest.raises(ServiceError) as caught:
        await make_client(lambda _: httpx.Response(418, text="teapot")).call("GET", "/x")
    assert (caught.value.status, caught.value.detail) == (418, "teapot")


@pytest.mark.parametrize(
    "text",
    [
        "<html><body>Bad Gateway</body></html>",
        "Traceback (most recent call last):\n  File ...",
        '{"error": "nope"}',
        "",
    ],
)
async def test_error_page_of_a_proxy_is_not_shown(text: str) -> None:
    with pytest.raises(ServiceError) as caught:
        await make_client(lambda _: httpx.Response(409, text=text)).call("GET", "/x")
    assert caught.value.detail == (
        "GET http://wms/x was answered with HTTP 409 Conflict, without a reason: check whether"
        " Sluice answers at this address"
    )


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_unavailable_service_is_asked_again(status: int) -> None:
    answers = [
        httpx.Response(status),
        httpx.Response(status),
        httpx.Response(200, json={"text": "ok"}),
    ]
    assert await make_client(lambda _: answers.pop(0)).call(
        "POST", "/x", answer=Explanation
    ) == Explanation(text="ok")


async def test_refused_connection_names_the_service() -> None:
    calls = 0

    def handler(request: httpx.Request) -> httpx.Response:
        nonlocal calls
        calls += 1
        raise httpx.ConnectError("connection refused", request=request)

    with pytest.raises(NotAvailable, match="service service at http://wms cannot be reached"):
        await make_client(handler).call("GET", "/x", retry=False)
    assert calls == 1
    with pytest.raises(NotAvailable):
        await make_client(handler).call("GET", "/x")
    assert calls == 5


async def test_timeout_means_that_the_service_is_unavailable() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("", request=request)

    with pytest.raises(NotAvailable, match="did not answer in time"):
        await make_client(handler).call("GET", "/x", retry=False)


async def test_answer_of_another_shape_is_an_error() -> None:
    class Other(Contract):
        number: int

    with pytest.raises(ServiceError, match="something other than Other"):
        await make_client(lambda _: httpx.Response(200, json={"text": "ok"})).call(
            "GET", "/x", answer=Other
        )


@pytest.mark.parametrize("name", ["..", "."])
async def test_name_of_dots_is_refused(name: str) -> None:
    """``DELETE /limits/..`` would become ``DELETE /``, with the rights of the calling service."""
    async with httpx.AsyncClient(base_url="http://127.0.0.1:1") as http:
        with pytest.raises(Unprocessable, match="is not a valid name"):
            await WmsClient(http).remove_limit(name)


async def test_empty_name_is_refused() -> None:
    """``GET /templates/`` would be another route."""
    async with httpx.AsyncClient(base_url="http://127.0.0.1:1") as http:
        with pytest.raises(Unprocessable, match="an empty text names no limit: give the limit's"):
            await WmsClient(http).remove_limit("")
