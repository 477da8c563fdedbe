"""What the operator service is asked about accounts, tokens and who asks."""

from urllib.parse import quote
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.device_login import (
    DeviceAnswer,
    DeviceLogin,
    DeviceQuestion,
    NewDeviceLogin,
)
from sluice.contracts.people import (
    Account,
    AccountChange,
    AccountList,
    GivenToken,
    Me,
    NewAccount,
    NewPassword,
    NewToken,
    SignInWithPassword,
    Token,
    TokenList,
    TokenQuestion,
)
from sluice.contracts.quotas import PersonQuotas, SetQuotas


class PeopleCalls(ServiceClient):
    async def accounts(self) -> AccountList:
        return await self.call("GET", f"{API}/people", answer=AccountList)

    async def add_account(self, new: NewAccount) -> Account:
        """Raises ``Conflict`` where there is one of that name."""
        return await self.call("POST", f"{API}/people", body=new, answer=Account, retry=False)

    async def change_account(self, name: str, change: AccountChange) -> Account:
        """Raises ``NotFound``; ``Conflict`` where somebody takes his own role away."""
        path = f"{API}/people/{quote(name, safe='')}"
        return await self.call("PATCH", path, body=change, answer=Account)

    async def person_quotas(self, name: str | None = None) -> PersonQuotas:
        """None: of who asks. Raises ``NotFound``; ``Forbidden`` where an administrator does not
        ask.
        """
        whose = (await self.me()).name if name is None else name
        path = f"{API}/people/{quote(whose, safe='')}/quotas"
        return await self.call("GET", path, answer=PersonQuotas)

    async def set_person_quotas(self, name: str, new: SetQuotas) -> PersonQuotas:
        """What ``new`` does not name stays. Raises ``NotFound``, ``Unprocessable``."""
        path = f"{API}/people/{quote(name, safe='')}/quotas"
        return await self.call("PATCH", path, body=new, answer=PersonQuotas)

    async def me(self) -> Me:
        return await self.call("GET", f"{API}/me", answer=Me)

    async def end_sessions(self) -> None:
        """Of who asks, in every browser."""
        await self.call("DELETE", f"{API}/me/sessions")

    async def change_password(self, new: NewPassword) -> Account:
        """Of who asks. Raises ``Unauthenticated`` where the old one is wrong."""
        return await self.call("PUT", f"{API}/me/password", body=new, answer=Account, retry=False)

    async def tokens(
        self, *, person: str | None = None, everybodys: bool = False, ended: bool = False
    ) -> TokenList:
        """Raises ``Forbidden`` for those of others where an administrator does not ask."""
        params = {"person": person, "all": everybodys, "ended": ended}
        return await self.call("GET", f"{API}/tokens", params=params, answer=TokenList)

    async def give_token(self, new: NewToken) -> GivenToken:
        """Never repeated by itself: each one makes a token. Raises ``Forbidden``, ``NotFound``;
        ``Conflict`` where the person has too many.
        """
        return await self.call("POST", f"{API}/tokens", body=new, answer=GivenToken, retry=False)

    async def revoke_token(self, token: UUID) -> Token:
        """Raises ``NotFound``."""
        return await self.call("DELETE", f"{API}/tokens/{token}", answer=Token)

    async def sign_in(self, who: SignInWithPassword) -> GivenToken:
        """Raises ``Unauthenticated``."""
        return await self.call("POST", f"{API}/sign-in", body=who, answer=GivenToken, retry=False)

    async def begin_device_login(self, new: NewDeviceLogin) -> DeviceLogin:
        """Waits for somebody to allow it in a browser."""
        path = f"{API}/device-logins"
        return await self.call("POST", path, body=new, answer=DeviceLogin, retry=False)

    async def device_login(self, question: DeviceQuestion) -> DeviceAnswer:
        """What has become of it. Raises ``Forbidden`` where it was refused, ``NotFound`` where it
        has ended.
        """
        path = f"{API}/device-logins/answers"
        return await self.call("POST", path, body=question, answer=DeviceAnswer)

    async def revoke_found_token(self, token: TokenQuestion) -> None:
        """Whosever it is; also one that opens nothing."""
        await self.call("POST", f"{API}/token-revocations", body=token)
