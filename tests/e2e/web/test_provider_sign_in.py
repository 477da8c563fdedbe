"""Sign-in and sign-out with a real OpenID provider, in Chromium."""

import pytest
from playwright.async_api import expect

from sluice.servicekit.access.authentication_setup import protect_with_accounts
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.server import HttpServer
from stack.ports import free_ports
from tests.e2e.web.browser import open_chromium
from tests.integration.operator.conftest import run_operator
from tests.integration.operator.identity.openid_provider import ROLES, Provider

pytestmark = pytest.mark.xdist_group("e2e-provider")


@pytest.mark.parametrize(("group", "role"), [("crew", "shift"), ("experts", "admin")])
async def test_person_signs_in_with_the_role_of_the_groups_and_signs_out(
    database_url: str, provider: Provider, group: str, role: str
) -> None:
    [port] = free_ports(1)
    own_url = f"http://localhost:{port}"
    oidc = {"issuer": provider.url, "client_secret": "confidential", "roles": ROLES}
    await provider.register_user("anna", groups=[group])
    async with (
        run_operator(database_url, oidc=oidc, public_url=own_url, accounts=True) as operator,
        open_chromium() as browser,
    ):
        operator.links.apps["wfms.operator"] = operator.service.app
        account_authentication = operator.service.account_authentication
        assert account_authentication is not None
        app = protect_with_accounts(operator.service.app, [], account_authentication)
        async with running(HttpServer(app, host="127.0.0.1", port=port)):
            page = await browser.new_page()
            await page.goto(f"{own_url}/chains?state=failed")
            await page.get_by_role("link", name="Sign in with").click()
            await page.locator("input[name=sub]").fill("anna")
            await page.locator("input[name=sub]").press("Enter")
            await expect(page.get_by_role("heading", name="Chains")).to_be_visible()
            assert page.url == f"{own_url}/chains?state=failed"
            await page.get_by_role("link", name="anna").click()
            await expect(page.get_by_role("heading", name=f"anna {role}")).to_be_visible()
            await page.get_by_role("button", name="Sign out").click()
            await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
            await page.goto(f"{own_url}/account")
            await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
