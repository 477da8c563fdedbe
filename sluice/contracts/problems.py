"""Error answers: ``application/problem+json`` (RFC 9457)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

#: Namespace of all problem types; ``urn:sluice:problem:not-found`` and so on.
PROBLEM_TYPE = "urn:sluice:problem:"


class Finding(BaseModel):
    """One thing wrong (or doubtful) in a text or a request, with its place where there is one
    (lines and columns from 1)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message: str
    severity: str = Field(default="error", pattern="^(error|warning)$")
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = ":".join(
            str(part) for part in (self.file, self.line, self.column) if part is not None
        )
        return (
            f"{place}: {self.severity}: {self.message}"
            if place
            else f"{self.severity}: {self.message}"
        )


class Problem(BaseModel):
    """RFC 9457 problem details. ``findings`` lists every reason where there are several; ``fields``
    are the facts."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    instance: str | None = None
    findings: list[Finding] = Field(default_factory=list)
    fields: dict[str, Any] = Field(default_factory=dict)


class ServiceError(Exception):
    """Root of all errors that a service answers with a problem. One subclass per business fact.

    A subclass sets ``status`` (HTTP), ``slug`` (last part of the problem type) and ``title``, and
    passes its sentence and fields.

        ServiceError
        ├── Unauthenticated     401  the request does not say, or prove, who sends it
        ├── Forbidden           403  who sends it may not do that
        ├── NotFound            404  there is no such thing
        ├── Conflict            409  it contradicts what is there (the state found is a field)
        │   └── NeedsForce      409  it would be done all the same, if asked to
        ├── Unprocessable       422  understood, and wrong: ``findings`` say what and where
        └── NotAvailable        503  something this needs does not answer now
    """

    status = 500
    slug = "internal"
    title = "Internal error"

    def __init__(
        self, detail: str, *, findings: list[Finding] | None = None, **fields: Any
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.findings = findings or []
        self.fields = fields

    def problem(self) -> Problem:
        return Problem(
            type=PROBLEM_TYPE + self.slug,
            title=self.title,
            status=self.status,
            detail=self.detail,
            findings=self.findings,
            fields={
                key: value if isinstance(value, int | float | bool) else str(value)
                for key, value in self.fields.items()
            },
        )


class Unauthenticated(ServiceError):
    status, slug, title = 401, "unauthenticated", "Not known who asks"


class Forbidden(ServiceError):
    status, slug, title = 403, "forbidden", "Not allowed"


class NotFound(ServiceError):
    status, slug, title = 404, "not-found", "Not found"


class Conflict(ServiceError):
    status, slug, title = 409, "conflict", "Contradicts the present state"


class NeedsForce(Conflict):
    """``why`` it is refused, and what is done where it is ``forced`` ("cancels them first"). How to
    ask for that each interface says in its own terms: by REST ``force=true``, on the command line
    ``--force`` (``sluice.cli.output``), on a page a button."""

    def __init__(
        self, why: str, *, forced: str, findings: list[Finding] | None = None, **fields: Any
    ) -> None:
        super().__init__(
            f"{why}; force=true {forced}",
            findings=findings,
            **{**fields, "why": why, "forced": forced},
        )


class Unprocessable(ServiceError):
    status, slug, title = 422, "unprocessable", "Understood, and wrong"


class WrongCursor(Unprocessable):
    """``after`` is no cursor that the list gave."""

    def __init__(self, after: str) -> None:
        super().__init__(
            f"after={after} is no cursor of this list: give the `after` of its last answer, or"
            " leave it out to begin",
            after=after,
        )


class NotAvailable(ServiceError):
    status, slug, title = 503, "not-available", "Not available now"
