"""Sign-in on the web pages, in Chromium."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from sluice.contracts.access.access import Role
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.tokens import FixedTokens
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.server import HttpServer
from tests.e2e.web.browser import NARROW_SCREEN, open_page
from tests.integration.operator.conftest import Operator

pytestmark = [pytest.mark.xdist_group("e2e-web"), pytest.mark.asyncio(loop_scope="module")]

TOKEN, PASSWORD = "open-sesame", "correct horse battery"


@pytest_asyncio.fixture(loop_scope="module")
async def guarded_address(operator: Operator) -> AsyncIterator[str]:
    """Yield the address of the service, which requires the token."""
    own = FixedTokens({TOKEN: Person("anna", Role.ADMIN)})
    account_authentication = operator.service.account_authentication
    assert account_authentication is not None
    app = account_authentication.guard(
        operator.service.app, [], cookie="sluice_person", own_authenticator=own
    )
    server = HttpServer(app, host="127.0.0.1", port=0)
    async with running(server):
        yield f"http://127.0.0.1:{server.port}"


async def test_person_signs_in_with_a_token_and_signs_out(
    browser: Browser, guarded_address: str
) -> None:
    async with open_page(browser, guarded_address) as page:
        await page.goto("/chains?state=failed")
        await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        await page.get_by_label("Token").fill("something else")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("alert")).to_contain_text("opens nothing here")
        await page.get_by_label("Token").fill(TOKEN)
        await page.get_by_label("Token").press("Enter")
        await expect(page.get_by_role("heading", name="Chains")).to_be_visible()
        await expect(page.get_by_text("anna")).to_be_visible()
        await page.goto("/")
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_label("Token")).to_be_visible()
        await page.set_viewport_size(NARROW_SCREEN)
        width = await page.evaluate("document.documentElement.scrollWidth")
        assert width == NARROW_SCREEN["width"]


async def test_token_in_an_address_is_removed_from_the_page(
    browser: Browser, guarded_address: str
) -> None:
    async with open_page(browser, guarded_address) as page:
        await page.goto(f"/tasks?token={TOKEN}")
        assert page.url == f"{guarded_address}/tasks"
        await expect(page.get_by_text("anna")).to_be_visible()
        assert TOKEN not in await page.content()
        assert await page.evaluate("document.cookie") == "", (
            "scripts cannot read the session cookie"
        )


async def test_open_page_tells_when_its_session_has_ended(
    browser: Browser, guarded_address: str
) -> None:
    async with open_page(browser, guarded_address) as page:
        await page.goto(f"/?token={TOKEN}")
        await page.context.clear_cookies()
        await expect(page.get_by_text("Your session is over")).to_be_visible(timeout=15_000)


async def test_administrator_creates_an_account_and_the_person_uses_it(
    browser: Browser, guarded_address: str
) -> None:
    async with open_page(browser, guarded_address) as page:
        await page.goto(f"/?token={TOKEN}")
        await page.get_by_role("link", name="anna").click()
        await page.get_by_role("link", name="People").first.click()
        await expect(page.get_by_text("No accounts.")).to_be_visible()
        await page.get_by_label("Name").fill("bert")
        await page.get_by_label("Role").select_option("submitter")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Create").click()
        await expect(page.get_by_role("status").first).to_have_text("bert is submitter.")
        await page.get_by_role("button", name="Sign out").click()

        await page.get_by_text("with a name and a password").click()
        await page.get_by_label("Name").fill("Bert")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_label("Password").press("Enter")
        await page.get_by_role("link", name="bert").click()
        await expect(page.get_by_role("heading", name="bert submitter")).to_be_visible()
        await expect(page.get_by_role("link", name="People")).to_have_count(0)
        await page.get_by_label("Label").fill("nightly")
        await page.get_by_label("Role").select_option("viewer")
        await page.get_by_role("button", name="Create").click()
        token = await page.get_by_role("status").locator("code").inner_text()
        assert token.startswith("sluice_")
        async with httpx.AsyncClient(base_url=guarded_address) as script:
            answer = await script.get("/api/v1/me", headers={"authorization": f"Bearer {token}"})
            assert answer.json()["role"] == "viewer"
        await page.goto("/account")
        assert token not in await page.content()
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.get_by_role("status").first).to_have_text("nightly is revoked.")
        await expect(page.get_by_role("button", name="Revoke")).to_have_count(0)
        async with httpx.AsyncClient(base_url=guarded_address) as script:
            answer = await script.get("/api/v1/me", headers={"authorization": f"Bearer {token}"})
            assert answer.status_code == 401

        await page.get_by_label("Old password").fill("not the password")
        await page.get_by_label("New password").fill(f"{PASSWORD}!")
        await page.get_by_role("button", name="Change it").click()
        await expect(page.get_by_role("alert")).to_contain_text("the name or the password is wrong")
        await page.get_by_label("Old password").fill(PASSWORD)
        await page.get_by_label("New password").fill(f"{PASSWORD}!")
        await page.get_by_role("button", name="Change it").click()
        await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        await page.set_viewport_size(NARROW_SCREEN)
        width = await page.evaluate("document.documentElement.scrollWidth")
        assert width == NARROW_SCREEN["width"]
