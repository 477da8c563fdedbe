"""Tests that tokens for another service and of another pilot are refused at each route of each
service."""

from pathlib import Path
from uuid import UUID

import httpx
import pytest
from structlog.testing import capture_logs

from scripts.docs.services import build_app
from sluice.contracts.access.services import SERVICES
from sluice.servicekit.access.authentication_setup import protect_without_accounts
from sluice.servicekit.access.service_keys import ServiceKeys
from sluice.servicekit.access.service_tokens import ServiceSigner, ServiceTokens
from sluice.servicekit.access.tokens import PilotTokens
from sluice.setup.service_keys import make_keys
from tests.unit.access.table import OTHER_PILOT, read_rows


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    make_keys(tmp_path / "keys")
    return tmp_path / "keys"


@pytest.mark.parametrize("service", SERVICES)
async def test_service_token_for_another_service_is_refused_at_each_route(
    keys: Path, service: str
) -> None:
    other = next(one for one in SERVICES if one != service)
    foreign = {
        one.service: one.token(other)
        for one in (ServiceSigner(ServiceKeys(keys, each)) for each in SERVICES)
    }
    service_tokens = ServiceTokens(ServiceKeys(keys, service))
    app = protect_without_accounts(build_app(service), [service_tokens], for_people=False)
    assert await _collect_statuses(app, service, foreign) == {401}


@pytest.mark.parametrize("service", SERVICES)
async def test_pilot_token_is_refused_at_each_route_of_another_pilot(service: str) -> None:
    tokens = PilotTokens(["key"])
    app = protect_without_accounts(build_app(service), [tokens], for_people=False)
    assert await _collect_statuses(app, service, {"p": tokens.issue(UUID(OTHER_PILOT))}) == {403}


async def _collect_statuses(app: object, service: str, tokens: dict[str, str]) -> set[int]:
    statuses = set()
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)  # type: ignore[arg-type] # any
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{service}") as http:
        with capture_logs():
            for row in read_rows():
                if row.service == service and not row.lets("nobody"):
                    for token in tokens.values():
                        headers = {"authorization": f"Bearer {token}"}
                        answer = await http.request(row.method, row.path, headers=headers)
                        statuses.add(answer.status_code)
    return statuses
