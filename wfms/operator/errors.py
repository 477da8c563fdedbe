"""Errors of requests to the operator service."""

from sluice.contracts.common.problems import (
    Finding,
    ServiceError,
    Unprocessable,
)
from sluice.text.visible_text import quoted

#: Running chains that a message lists; the rest is only counted.
MAX_NAMED = 20


class RequestRefused(Unprocessable):
    """The request is not valid; the findings name the fields."""

    slug, title = "invalid-request", "Malformed request"

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.message for finding in findings), findings=findings)


class InvalidQueryParameter(Unprocessable):
    """A query parameter in the URL of a page is not valid."""

    slug, title = "invalid-request", "No page at this address"

    def __init__(self, key: str, value: str, expected_value: str) -> None:
        super().__init__(
            f"{key} must be {expected_value} or be left out of the address, not {quoted(value)}",
            key=key,
            named=value,
        )


class UnsupportedMediaType(ServiceError):
    """The media type is not supported; ``what`` names the supported ones."""

    status, slug, title = 415, "unknown-media", "Unsupported media type"

    def __init__(self, what: str) -> None:
        super().__init__(f"send {what}")


class RequestTooLarge(ServiceError):
    """The request is too large."""

    status, slug, title = 413, "too-large", "Too large"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"the request is larger than {limit / 1024 / 1024:g} MiB, the maximum",
            limit=limit,
        )
