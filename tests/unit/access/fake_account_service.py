"""A fake of the service that keeps the accounts, for tests of other services' authentication."""

import httpx

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import TokenHolder, TokenQuestion
from sluice.servicekit.access.people import TOKEN_HOLDERS_PATH


class FakeAccountService:
    """Answer every question about a token with ``holder`` and ``status``."""

    def __init__(self) -> None:
        self.holder = TokenHolder(name="anna", role=Role.SHIFT)
        self.requested_tokens: list[str] = []
        self.status = 200

    def __call__(self, request: httpx.Request) -> httpx.Response:
        assert (request.method, request.url.path) == ("POST", TOKEN_HOLDERS_PATH)
        question = TokenQuestion.model_validate_json(request.content)
        self.requested_tokens.append(question.token.get_secret_value())
        return httpx.Response(self.status, content=self.holder.model_dump_json())
