"""Errors as ``application/problem+json`` (RFC 9457)."""

import operator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from sluice.text.visible_text import quoted

#: The prefix of all problem types, as in ``urn:sluice:problem:not-found``.
PROBLEM_TYPE = "urn:sluice:problem:"


_OmittedIfEmpty = Annotated[str, Field(exclude_if=operator.not_)]


class Finding(BaseModel):
    """An error or a warning in a text or a request.

    Attributes:
        message: What is wrong.
        severity: ``error`` or ``warning``.
        file: The file, if known.
        line: The line, from 1, if known.
        column: The column, from 1, if known.
        parameter: The parameter whose value is wrong, if it is about one.
        place: The wrong part of this value, as in ``library.sizes[0]``. Empty for the whole value.
        problem: What is wrong with this value: the message without the parameter and the place.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    message: str
    severity: str = Field(default="error", pattern="^(error|warning)$")
    file: str | None = None
    line: int | None = None
    column: int | None = None
    parameter: _OmittedIfEmpty = ""
    place: _OmittedIfEmpty = ""
    problem: _OmittedIfEmpty = ""

    @classmethod
    def about_parameter(
        cls, name: str, problem: str, *, place: str = "", is_sentence: bool = False
    ) -> "Finding":
        """Return an error about the value of a parameter.

        Args:
            name: The name of the parameter.
            problem: What is wrong, as in "must be int".
            place: The wrong part of the value. Empty for the whole value.
            is_sentence: Whether the problem has its own subject, as in "there is no data set 7".
        """
        subject = f"parameter {quoted(name)}"
        if place:
            subject += f": field {quoted(place)}"
        return cls(
            message=f"{subject}{':' if is_sentence else ''} {problem}",
            parameter=name,
            place=place,
            problem=problem,
        )

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
    """Problem details of RFC 9457.

    Attributes:
        type: The URN of the problem type.
        title: The summary of the problem type.
        status: The HTTP status.
        detail: What happened and what to do.
        instance: The URI of this occurrence, if there is one.
        findings: All errors and warnings, if there are several.
        fields: Facts of this occurrence by name, for programs.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    instance: str | None = None
    findings: list[Finding] = Field(default_factory=list)
    fields: dict[str, Any] = Field(default_factory=dict)


class ServiceError(Exception):
    """The base class of all errors that a service answers with a problem.

    There is one subclass for each business fact. A subclass sets ``status`` (HTTP), ``slug`` (the
    last part of the problem type) and ``title``, and passes its sentence and fields.

        ServiceError
        ├── Unauthenticated     401  the request has no valid credential
        ├── Forbidden           403  the principal may not do this
        ├── NotFound            404  the object does not exist
        ├── Conflict            409  the current state does not allow it (the state is a field)
        │   └── ForceRequired   409  the request is accepted with ``force``
        ├── Unprocessable       422  the content is wrong: ``findings`` say what and where
        └── NotAvailable        503  something that this request needs does not answer now
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
        """Return the error as problem details."""
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
    """The request has no valid credential."""

    status, slug, title = 401, "unauthenticated", "Authentication required"


class Forbidden(ServiceError):
    """The principal may not do this."""

    status, slug, title = 403, "forbidden", "Not allowed"


class NotFound(ServiceError):
    """The object does not exist."""

    status, slug, title = 404, "not-found", "Not found"


class Conflict(ServiceError):
    """The current state does not allow the request."""

    status, slug, title = 409, "conflict", "Conflict with the current state"


class ForceRequired(Conflict):
    """The request is refused, and accepted with ``force``.

    Each interface says in its own terms how to force the request: REST ``force=true``, the command
    line ``--force`` (``sluice.clientkit.output``), and a page a button.
    """

    def __init__(
        self, why: str, *, forced: str, findings: list[Finding] | None = None, **fields: Any
    ) -> None:
        """Create the error.

        Args:
            why: Why the request is refused.
            forced: What the forced request does, as in "cancels them first".
            findings: All reasons, if there are several.
            **fields: Facts for programs.
        """
        super().__init__(
            f"{why}; force=true {forced}",
            findings=findings,
            **{**fields, "why": why, "forced": forced},
        )


class Unprocessable(ServiceError):
    """The content of the request is wrong."""

    status, slug, title = 422, "unprocessable", "Invalid request"


class InvalidCursor(Unprocessable):
    """``after`` is not a cursor of the list."""

    def __init__(self, after: str) -> None:
        super().__init__(
            f"after={after} is not a cursor of this list: give the `after` of its last answer, or"
            " leave it out to begin",
            after=after,
        )


class NotAvailable(ServiceError):
    """Something that the request needs does not answer now."""

    status, slug, title = 503, "not-available", "Temporarily unavailable"
