"""Sign-in with an OpenID provider, which runs in its own process."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import AccountChange, NewAccount
from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit.access.authentication_setup import protect_with_accounts
from sluice.servicekit.access.provider_sign_in import RETURN_PATH, PendingSignIn
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.server import HttpServer
from tests.integration.operator.conftest import Operator, run_operator
from tests.integration.operator.identity.accounts import ROOT, make_person_client
from tests.integration.operator.identity.openid_provider import ROLES, Provider
from wfms.operator.identity.domain.errors import ProviderRefused
from wfms.operator.identity.usecases.oidc_settings import OidcSettings
from wfms.operator.identity.usecases.openid_provider import OpenIdProvider

OURS = "http://sluice.example"
PENDING = PendingSignIn(
    state="s", nonce="n" * 43, verifier="v" * 43, redirect=f"{OURS}{RETURN_PATH}", next="/"
)


@dataclass
class SignInBrowser:
    """``browser`` belongs to a person at the sign-in page."""

    operator: Operator
    browser: httpx.AsyncClient

    async def sign_in(self, provider: Provider, subject: str, there: str = "/chains") -> str:
        """Sign in and return the last address of the browser."""
        sent = await self.browser.get("/sign-in/provider", params={"next": there})
        assert sent.status_code == 303, sent.text
        back = await provider.sign_in(sent.headers["location"], subject)
        assert back.startswith(f"{OURS}/sign-in/provider/back?")
        answer = await self.browser.get(back)
        assert answer.status_code == 303
        return str(answer.headers["location"])

    async def me(self) -> tuple[str, str] | None:
        answer = await self.browser.get("/api/v1/me")
        if answer.status_code == 401:
            return None
        profile = answer.json()
        return profile["name"], profile["role"]


@pytest.fixture
async def sign_in_browser(database_url: str, provider: Provider) -> AsyncIterator[SignInBrowser]:
    oidc = {"issuer": provider.url, "client_secret": "confidential", "roles": ROLES}
    async with run_operator(database_url, oidc=oidc, public_url=OURS, accounts=True) as operator:
        operator.links.apps["wfms.operator"] = operator.service.app
        account_authentication = operator.service.account_authentication
        assert account_authentication is not None
        app = protect_with_accounts(operator.service.app, [], account_authentication)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=OURS) as browser:
            yield SignInBrowser(operator, browser)


async def test_sign_in_gives_the_role_of_the_groups(
    sign_in_browser: SignInBrowser, provider: Provider
) -> None:
    page = await sign_in_browser.browser.get("/chains?state=failed")
    assert page.status_code == 401
    link = re.search(r'href="(/sign-in/provider\?[^"]+)"', page.text)
    assert link is not None
    assert parse_qs(urlsplit(link[1]).query)["next"] == ["/chains?state=failed"]
    await provider.register_user("anna", groups=["crew", "guests", "others"])

    assert (
        await sign_in_browser.sign_in(provider, "anna", "/chains?state=failed")
        == "/chains?state=failed"
    )
    assert await sign_in_browser.me() == ("anna", "shift")
    [account] = (await make_person_client(sign_in_browser.operator, ROOT).list_accounts()).accounts
    assert (account.name, account.role, account.has_password) == ("anna", Role.SHIFT, False)

    await provider.register_user("anna", groups="experts")
    await sign_in_browser.browser.post("/sign-out")
    assert await sign_in_browser.me() is None
    await sign_in_browser.sign_in(provider, "anna")
    assert await sign_in_browser.me() == ("anna", "admin")


async def test_sign_in_is_bound_to_the_request_and_the_browser(
    sign_in_browser: SignInBrowser, provider: Provider
) -> None:
    await provider.register_user("anna", groups=["crew"])
    sent = await sign_in_browser.browser.get("/sign-in/provider")
    query = parse_qs(urlsplit(sent.headers["location"]).query)
    assert (query["code_challenge_method"], query["response_type"]) == (["S256"], ["code"])
    assert len(query["nonce"][0]) > 40
    cookie = sent.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Lax", "Path=/sign-in/provider"} <= set(cookie.split("; "))
    back = await provider.sign_in(sent.headers["location"], "anna")

    other = httpx.AsyncClient(transport=sign_in_browser.browser._transport, base_url=OURS)
    for victim in (await other.get(back), await sign_in_browser.browser.get(f"{back}x")):
        refused = victim.headers["location"]
        assert (victim.status_code, refused) == (303, "/?signed-in=refused")
    assert (await sign_in_browser.browser.get(back)).headers["location"] == "/"
    assert await sign_in_browser.me() == ("anna", "shift")
    again = await sign_in_browser.browser.get(back)
    assert again.headers["location"] == "/?signed-in=refused", "a code is valid once"


@pytest.mark.parametrize(
    "claims",
    [
        {"groups": ["strangers"]},
        {},
        {"groups": ["crew"], "preferred_username": "no name"},
        {"groups": ["crew"], "preferred_username": ""},
    ],
)
async def test_person_without_a_known_group_or_a_valid_name_is_refused(
    sign_in_browser: SignInBrowser, provider: Provider, claims: dict[str, Any]
) -> None:
    await provider.register_user("anna", **claims)
    assert await sign_in_browser.sign_in(provider, "anna") == "/chains?signed-in=refused"
    assert await sign_in_browser.me() is None
    assert (await make_person_client(sign_in_browser.operator, ROOT).list_accounts()).accounts == []


async def test_provider_cannot_take_over_the_account_of_another_person(
    sign_in_browser: SignInBrowser, provider: Provider
) -> None:
    admin = make_person_client(sign_in_browser.operator, ROOT)
    await admin.add_account(NewAccount(name="anna", role=Role.ADMIN))
    await provider.register_user("eve", preferred_username="anna", groups=["guests"])
    assert await sign_in_browser.sign_in(provider, "eve") == "/chains?signed-in=refused"

    await provider.register_user("eve", preferred_username="eve", groups=["guests"])
    await sign_in_browser.sign_in(provider, "eve")
    await provider.register_user("eve", preferred_username="anna", groups=["guests"])
    await sign_in_browser.sign_in(provider, "eve")
    assert await sign_in_browser.me() == ("eve", "viewer"), "the person keeps the first name"


async def test_person_disabled_in_sluice_is_refused_at_the_provider_sign_in(
    sign_in_browser: SignInBrowser, provider: Provider
) -> None:
    await provider.register_user("anna", groups=["crew"])
    await sign_in_browser.sign_in(provider, "anna")
    await make_person_client(sign_in_browser.operator, ROOT).change_account(
        "anna", AccountChange(disabled=True)
    )
    assert await sign_in_browser.me() is None
    assert await sign_in_browser.sign_in(provider, "anna") == "/chains?signed-in=refused"
    assert await sign_in_browser.me() is None


@pytest.mark.parametrize("answer", ["error=access_denied&state={state}", "state={state}", ""])
async def test_return_without_a_code_is_refused(
    sign_in_browser: SignInBrowser, answer: str
) -> None:
    sent = await sign_in_browser.browser.get("/sign-in/provider")
    state = parse_qs(urlsplit(sent.headers["location"]).query)["state"][0]
    back = await sign_in_browser.browser.get(f"/sign-in/provider/back?{answer.format(state=state)}")
    assert back.headers["location"] == "/?signed-in=refused"


async def test_forged_code_is_refused(sign_in_browser: SignInBrowser) -> None:
    sent = await sign_in_browser.browser.get("/sign-in/provider")
    state = parse_qs(urlsplit(sent.headers["location"]).query)["state"][0]
    back = await sign_in_browser.browser.get(f"/sign-in/provider/back?code=guess&state={state}")
    assert back.headers["location"] == "/?signed-in=refused"


def make_provider_client(issuer: str, name: str = "sluice") -> OpenIdProvider:
    secret = SecretStr("confidential")
    return OpenIdProvider(OidcSettings(issuer=issuer, client_id=name, client_secret=secret))


async def get_code(provider: Provider, client: OpenIdProvider, pending: PendingSignIn) -> str:
    """Sign Anna in at the provider, and return the code that it sends back."""
    await provider.register_user("anna", groups=["crew"])
    address = await client.begin(
        pending.redirect, state=pending.state, nonce=pending.nonce, verifier=pending.verifier
    )
    return parse_qs(urlsplit(await provider.sign_in(address, "anna")).query)["code"][0]


async def test_id_token_has_the_claims_of_the_person(provider: Provider) -> None:
    client = make_provider_client(provider.url)
    code = await get_code(provider, client, PENDING)
    claims = await client.claims(PENDING, {"code": code})
    assert (claims["sub"], claims["groups"]) == ("anna", ["crew"])


async def test_id_token_with_another_nonce_is_refused(provider: Provider) -> None:
    client = make_provider_client(provider.url)
    code = await get_code(provider, client, PENDING)
    with pytest.raises(ProviderRefused, match="its ID token is not valid"):
        await client.claims(replace(PENDING, nonce="another"), {"code": code})


async def test_code_of_another_client_is_refused(provider: Provider) -> None:
    await provider.register_user("anna", groups=["crew"])
    ours, theirs = (make_provider_client(provider.url, name) for name in ("ours", "theirs"))
    pending = PendingSignIn(state="s", nonce="n" * 43, verifier="v" * 43, redirect=OURS, next="/")
    address = await theirs.begin(OURS, state="s", nonce=pending.nonce, verifier=pending.verifier)
    code = parse_qs(urlsplit(await provider.sign_in(address, "anna")).query)["code"][0]
    with pytest.raises(ProviderRefused, match="it rejected the authorization code"):
        await ours.claims(pending, {"code": code})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"issuer": "https://evil.example"}, "its issuer is https://evil.example"),
        ({"token_endpoint": None}, "its metadata lack some of"),
        ([], "returned no JSON object"),
    ],
)
async def test_discovery_document_with_wrong_content_is_refused(
    changes: Any, sentence: str
) -> None:
    """Otherwise keys and codes would go to another provider."""

    async def discovery(request: Request) -> JSONResponse:
        ours = str(request.base_url).rstrip("/")
        fields = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
        document = dict.fromkeys(fields, ours)
        return JSONResponse({**document, **changes} if isinstance(changes, dict) else changes)

    app = Starlette(routes=[Route("/.well-known/openid-configuration", discovery)])
    server = HttpServer(app, host="127.0.0.1", port=0)
    async with running(server):
        client = make_provider_client(f"http://127.0.0.1:{server.port}")
        with pytest.raises(NotAvailable, match=sentence):
            await client.begin(OURS, state="s", nonce="n", verifier="v" * 43)


@pytest.mark.parametrize("issuer", ["http://localhost:1", "http://localhost:{port}/other"])
async def test_unreachable_or_wrong_provider_is_not_available(
    database_url: str, provider: Provider, issuer: str
) -> None:
    port = urlsplit(provider.url).port
    oidc = {"issuer": issuer.format(port=port), "roles": ROLES}
    async with run_operator(database_url, oidc=oidc, public_url=OURS, accounts=True) as operator:
        account_authentication = operator.service.account_authentication
        assert account_authentication is not None
        app = protect_with_accounts(operator.service.app, [], account_authentication)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=OURS) as browser:
            answer = await browser.get("/sign-in/provider")
    assert answer.status_code == 503
    assert "the OpenID provider does not answer as it should" in answer.text
