"""Calls to the operator service about accounts and tokens."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient, build_path
from sluice.contracts.access.device_login import (
    DeviceAnswer,
    DeviceLogin,
    DeviceQuestion,
    NewDeviceLogin,
)
from sluice.contracts.access.people import (
    Account,
    AccountChange,
    AccountList,
    Me,
    NewAccount,
    NewPassword,
    NewToken,
    NewTokenSecret,
    SignInWithPassword,
    Token,
    TokenList,
    TokenQuestion,
)
from sluice.contracts.access.quotas import PersonQuotas, SetQuotas


class PeopleCalls(ServiceClient):
    """Calls about accounts, tokens and sign-ins."""

    async def list_accounts(self) -> AccountList:
        """Return all accounts."""
        return await self.call("GET", f"{API}/people", answer=AccountList)

    async def add_account(self, new: NewAccount) -> Account:
        """Add an account.

        Raises:
            Conflict: The name is taken.
        """
        return await self.call("POST", f"{API}/people", body=new, answer=Account, retry=False)

    async def change_account(self, name: str, change: AccountChange) -> Account:
        """Change an account.

        Raises:
            NotFound: There is no such account.
            Conflict: The caller would take their own role away.
        """
        path = build_path("people", name)
        return await self.call("PATCH", path, body=change, answer=Account)

    async def get_person_quotas(self, name: str | None = None) -> PersonQuotas:
        """Return the quotas of a person, or of the caller.

        Raises:
            NotFound: There is no such account.
            Forbidden: It is another person, and the caller is not an administrator.
        """
        account_name = (await self.get_own_account()).name if name is None else name
        path = build_path("people", account_name, "quotas")
        return await self.call("GET", path, answer=PersonQuotas)

    async def set_person_quotas(self, name: str, new: SetQuotas) -> PersonQuotas:
        """Set quotas of a person. Quotas that ``new`` omits keep their values.

        Raises:
            NotFound: There is no such account.
            Unprocessable: A value is wrong.
        """
        path = build_path("people", name, "quotas")
        return await self.call("PATCH", path, body=new, answer=PersonQuotas)

    async def get_own_account(self) -> Me:
        """Return the account of the caller."""
        return await self.call("GET", f"{API}/me", answer=Me)

    async def end_sessions(self) -> None:
        """End the caller's sessions in all browsers."""
        await self.call("DELETE", f"{API}/me/sessions")

    async def change_password(self, new: NewPassword) -> Account:
        """Change the password of the caller.

        Raises:
            Unauthenticated: The old password is wrong.
        """
        return await self.call("PUT", f"{API}/me/password", body=new, answer=Account, retry=False)

    async def list_tokens(
        self, *, person: str | None = None, everybodys: bool = False, ended: bool = False
    ) -> TokenList:
        """Return tokens of the caller, of a person, or of everybody.

        Raises:
            Forbidden: They are tokens of others, and the caller is not an administrator.
        """
        params = {"person": person, "all": everybodys, "ended": ended}
        return await self.call("GET", f"{API}/tokens", params=params, answer=TokenList)

    async def create_token(self, new: NewToken) -> NewTokenSecret:
        """Create a token. The call is not retried, because each request creates one.

        Raises:
            Forbidden: The caller may not create this token.
            NotFound: There is no such account.
            Conflict: The person has too many tokens.
        """
        return await self.call(
            "POST", f"{API}/tokens", body=new, answer=NewTokenSecret, retry=False
        )

    async def revoke_token(self, token: UUID) -> Token:
        """Revoke a token.

        Raises:
            NotFound: There is no such token.
        """
        return await self.call("DELETE", f"{API}/tokens/{token}", answer=Token)

    async def sign_in(self, credentials: SignInWithPassword) -> NewTokenSecret:
        """Sign in with a password and return a token.

        Raises:
            Unauthenticated: The name or the password is wrong.
        """
        return await self.call(
            "POST", f"{API}/sign-in", body=credentials, answer=NewTokenSecret, retry=False
        )

    async def begin_device_login(self, new: NewDeviceLogin) -> DeviceLogin:
        """Begin a login that somebody has to allow in a browser."""
        path = f"{API}/device-logins"
        return await self.call("POST", path, body=new, answer=DeviceLogin, retry=False)

    async def get_device_login(self, question: DeviceQuestion) -> DeviceAnswer:
        """Return the state of a device login.

        Raises:
            Forbidden: It was refused.
            NotFound: It has ended.
        """
        path = f"{API}/device-logins/answers"
        return await self.call("POST", path, body=question, answer=DeviceAnswer)

    async def revoke_found_token(self, token: TokenQuestion) -> None:
        """Revoke a leaked token, no matter who owns it. Unknown tokens are accepted."""
        await self.call("POST", f"{API}/token-revocations", body=token)
