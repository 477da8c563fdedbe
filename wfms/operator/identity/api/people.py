"""``/api/v1/people``, ``/me``, ``/tokens``: accounts, sign-in and tokens."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.access.access import Role
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
    TokenHolder,
    TokenList,
    TokenQuestion,
)
from sluice.contracts.access.quotas import PersonQuotas, SetQuotas
from sluice.contracts.access.services import SERVICES
from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import (
    Conflict,
    Forbidden,
    NotAvailable,
    NotFound,
    Unauthenticated,
    Unprocessable,
)
from sluice.servicekit.access.policy import ADMINS, VIEWERS, Other, policy
from sluice.servicekit.access.principal import Person
from sluice.servicekit.web.openapi import client_hints
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route
from wfms.operator.identity.domain.errors import InsufficientRole, TooManySignInAttempts
from wfms.operator.identity.usecases.accounts.change_account import change_account
from wfms.operator.identity.usecases.accounts.change_own_password import change_own_password
from wfms.operator.identity.usecases.accounts.create_account import create_account
from wfms.operator.identity.usecases.accounts.end_own_sessions import end_own_sessions
from wfms.operator.identity.usecases.accounts.get_me import get_me
from wfms.operator.identity.usecases.accounts.list_accounts import list_accounts
from wfms.operator.identity.usecases.quotas.get_person_quotas import get_person_quotas
from wfms.operator.identity.usecases.quotas.set_person_quotas import set_person_quotas
from wfms.operator.identity.usecases.tokens.create_token import create_token
from wfms.operator.identity.usecases.tokens.create_token_with_password import (
    create_token_with_password,
)
from wfms.operator.identity.usecases.tokens.list_tokens import list_tokens
from wfms.operator.identity.usecases.tokens.revoke_token import revoke_token
from wfms.operator.identity.usecases.tokens.revoke_token_by_secret import revoke_token_by_secret

#: The services that may ask for the holder of a token.
EVERY_SERVICE = policy(*SERVICES)


class TokenQuery(Contract):
    """Which tokens are listed.

    Attributes:
        all: Tokens of all people; for administrators only.
        ended: Tokens that are no longer valid, too.
        person: Tokens of this person; those of others for administrators only.
    """

    all: bool = False
    ended: bool = False
    person: Annotated[str, Field(max_length=100)] | None = None


class PeopleRoutes:
    """The routes of accounts, sign-in and tokens."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._database = context.database
        self._people = context.people

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/people", "list_accounts", self.list, ADMINS, "List accounts.",
                  answer=AccountList),
            Route("POST", "/people", "add_account", self.add, ADMINS, "Create an account.",
                  answer=Account, status=201, body=NewAccount, errors=(Conflict,),
                  needs_caller=True, client=client_hints(retry=False)),
            Route("PATCH", "/people/<name>", "change_account", self.change, ADMINS,
                  "Change the role, groups or password of an account, or disable or enable it.",
                  answer=Account, body=AccountChange, errors=(Conflict, NotFound),
                  needs_caller=True),
            Route("GET", "/people/<name>/quotas", "get_person_quotas", self.quotas, VIEWERS,
                  "Return the usage and the quotas of a person. Those of others are for"
                  " administrators.",
                  answer=PersonQuotas, errors=(Forbidden, NotFound, NotAvailable),
                  needs_caller=True),
            Route("PATCH", "/people/<name>/quotas", "set_person_quotas", self.set_quotas, ADMINS,
                  "Set the quotas of a person. `none` removes a quota.",
                  answer=PersonQuotas, body=SetQuotas,
                  errors=(Unprocessable, NotFound, NotAvailable)),
            Route("GET", "/me", "get_own_account", self.me, VIEWERS,
                  "Return the caller's account.", answer=Me, needs_caller=True),
            Route("PUT", "/me/password", "change_password", self.change_password, VIEWERS,
                  "Change the caller's password. The caller's sessions end.",
                  answer=Account, body=NewPassword, errors=(Unauthenticated, TooManySignInAttempts),
                  needs_caller=True, client=client_hints(retry=False)),
            Route("DELETE", "/me/sessions", "end_sessions", self.end_sessions, VIEWERS,
                  "End the caller's sessions in all browsers. Tokens stay.",
                  status=204, needs_caller=True),
            Route("GET", "/tokens", "list_tokens", self.tokens, VIEWERS,
                  "List the caller's tokens. Administrators may list those of others.",
                  answer=TokenList, query=TokenQuery, errors=(Forbidden,), needs_caller=True),
            Route("POST", "/tokens", "create_token", self.create_token, VIEWERS,
                  "Create a token with at most the caller's rights, and return it this once.",
                  answer=NewTokenSecret, status=201, body=NewToken, errors=(Conflict, NotFound),
                  needs_caller=True, client=client_hints(retry=False)),
            Route("DELETE", "/tokens/<uuid:token>", "revoke_token", self.revoke, VIEWERS,
                  "Revoke a token.",
                  answer=Token, errors=(NotFound,), needs_caller=True),
            Route("POST", "/sign-in", "sign_in", self.sign_in, policy(Other.EVERYBODY),
                  "Create a token for a name and a password.",
                  answer=NewTokenSecret, status=201, body=SignInWithPassword,
                  errors=(Unauthenticated, Conflict, TooManySignInAttempts),
                  client=client_hints(retry=False)),
            Route("POST", "/token-revocations", "revoke_found_token",
                  self.revoke_received_token, policy(Other.EVERYBODY),
                  "Revoke the token in the request. Anyone who has it may do so (RFC 7009).",
                  status=204, body=TokenQuestion),
            Route("POST", "/token-holders", "find_token_holder", self.holder, EVERY_SERVICE,
                  "Return the owner of a token to a service that received it.",
                  answer=TokenHolder, body=TokenQuestion),
        ]  # fmt: skip

    async def list(self) -> AccountList:
        """List all accounts."""
        return AccountList(accounts=await list_accounts(self._database))

    async def add(self, body: NewAccount, caller: Person) -> Account:
        """Create an account."""
        return await create_account(self._context, body, by=caller)

    async def change(self, name: str, body: AccountChange, caller: Person) -> Account:
        """Change an account."""
        return await change_account(self._context, name, body, by=caller)

    async def quotas(self, name: str, caller: Person) -> PersonQuotas:
        """Return the quotas of a person and how much of them is used."""
        return await get_person_quotas(self._context, name, by=caller)

    async def set_quotas(self, name: str, body: SetQuotas) -> PersonQuotas:
        """Set the quotas of a person."""
        return await set_person_quotas(self._context, name, body)

    async def me(self, caller: Person) -> Me:
        """Return the account of the caller."""
        return await get_me(self._database, caller)

    async def end_sessions(self, caller: Person) -> None:
        """End all sessions of the caller."""
        await end_own_sessions(self._context, caller)

    async def change_password(self, body: NewPassword, caller: Person) -> Account:
        """Change the password of the caller."""
        return await change_own_password(self._context, caller, body)

    async def tokens(self, query: TokenQuery, caller: Person) -> TokenList:
        """List tokens.

        Raises:
            InsufficientRole: The caller asks for tokens of others and is no administrator.
        """
        others = query.all or query.person not in {None, caller.name}
        if others and caller.role is not Role.ADMIN:
            raise InsufficientRole(
                f"only the role {Role.ADMIN} may list the tokens of others",
                f"you are {caller.role}",
            )
        person_name = query.person or (None if query.all else caller.name)
        tokens, now = await list_tokens(self._database, person_name), datetime.now(UTC)
        return TokenList(tokens=[each for each in tokens if query.ended or each.holds(now)])

    async def create_token(self, body: NewToken, caller: Person) -> NewTokenSecret:
        """Create a token."""
        return await create_token(self._database, body, by=caller)

    async def revoke(self, token: UUID, caller: Person) -> Token:
        """Revoke a token of the caller, or as an administrator any token."""
        return await revoke_token(self._database, token, by=caller)

    async def sign_in(self, body: SignInWithPassword) -> NewTokenSecret:
        """Return a new token for a name and a password."""
        return await create_token_with_password(self._context, body)

    async def revoke_received_token(self, body: TokenQuestion) -> None:
        """Revoke the token that is sent."""
        await revoke_token_by_secret(self._database, body.token.get_secret_value())

    async def holder(self, body: TokenQuestion) -> TokenHolder:
        """Return the holder of a token, empty if the token is unknown."""
        principal = await self._people.principal(body.token.get_secret_value())
        if not isinstance(principal, Person):
            return TokenHolder()
        return TokenHolder(name=principal.name, role=principal.role, groups=list(principal.groups))
