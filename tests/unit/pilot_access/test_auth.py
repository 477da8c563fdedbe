"""What a pilot's requests say of who sends them."""

from pathlib import Path

import httpx
import pytest

from sluice.contracts.access import PILOT_TOKEN_HEADER
from sluice.pilot_access.auth import PilotAuth


class Wms:
    """Gives the tokens that it is told, one with each answer; None: none."""

    def __init__(self, *gives: str | None) -> None:
        self.asked: list[str | None] = []
        self._gives = [*gives]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.headers.get("authorization"))
        given = self._gives.pop(0) if self._gives else None
        return httpx.Response(200, headers={} if given is None else {PILOT_TOKEN_HEADER: given})


async def _ask(wms: Wms, auth: PilotAuth, *paths: str) -> list[str | None]:
    transport = httpx.MockTransport(wms)
    async with httpx.AsyncClient(transport=transport, base_url="http://wms", auth=auth) as http:
        for path in paths:
            await http.post(path)
    return wms.asked


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("enrolment\n")
    return path


async def test_it_registers_with_the_file_and_goes_on_with_its_own(file: Path) -> None:
    wms = Wms("first", "second", None)

    asked = await _ask(
        wms,
        PilotAuth(file),
        "/api/v1/pilots",
        "/api/v1/pilots/u/heartbeat",
        "/api/v1/pilots/u/report",
        "/api/v1/pilots/u/lease",
    )

    assert asked == ["Bearer enrolment", "Bearer first", "Bearer second", "Bearer second"]


async def test_it_registers_again_with_what_the_file_says_by_then(file: Path) -> None:
    wms, auth = Wms("first"), PilotAuth(file)
    await _ask(wms, auth, "/services/wms/api/v1/pilots")
    file.write_text("changed")  # noqa: ASYNC240 - a few bytes

    asked = await _ask(wms, auth, "/services/wms/api/v1/pilots")

    assert asked == ["Bearer enrolment", "Bearer changed"]


async def test_without_a_file_it_says_nothing() -> None:
    assert await _ask(Wms(), PilotAuth(None), "/api/v1/pilots", "/api/v1/pilots/u/lease") == [
        None,
        None,
    ]


async def test_a_file_that_is_not_there_is_a_connection_that_cannot_be_had(tmp_path: Path) -> None:
    with pytest.raises(
        httpx.TransportError, match=r"the pilot has no token: .* cannot be read: No such file"
    ):
        await _ask(Wms(), PilotAuth(tmp_path / "none"), "/api/v1/pilots")
