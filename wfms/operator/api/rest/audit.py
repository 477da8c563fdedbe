"""``/api/v1/audit``: who did what."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.audit import AuditPage, AuditVerdicts
from sluice.contracts.base import Contract, Timestamp
from sluice.contracts.problems import NotAvailable, Unprocessable
from sluice.servicekit.audit.router import read_place
from sluice.servicekit.audit.rows import AuditQuery
from wfms.operator.api.rest.route import ADMINS, Route
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_audit import check_audit, read_audit


class AuditListQuery(Contract):
    """``what``: stands in the action, as `POST /api/v1/chains`. ``before``: the ``next`` of the
    page before."""

    who: Annotated[str, Field(max_length=200)] | None = None
    what: Annotated[str, Field(max_length=200)] | None = None
    since: Timestamp | None = None
    until: Timestamp | None = None
    before: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100

    def query(self) -> AuditQuery:
        """Raises ``Unprocessable``."""
        before = read_place(self.before)
        return AuditQuery(self.who, self.what, self.since, self.until, before, self.limit)


class AuditRoutes:
    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        return [
            Route("GET", "/audit", self.list, ADMINS,
                  "Lists what people did, the newest first: who, what, from where, and what came "
                  "of it.",
                  answer=AuditPage, query=AuditListQuery, errors=(Unprocessable, NotAvailable)),
            Route("GET", "/audit/verdict", self.check, ADMINS,
                  "Says of each service whether what it has noted is what was noted.",
                  answer=AuditVerdicts, errors=(NotAvailable,)),
        ]  # fmt: skip

    async def list(self, query: AuditListQuery) -> AuditPage:
        return await read_audit(self._context, query.query())

    async def check(self) -> AuditVerdicts:
        return await check_audit(self._context)
