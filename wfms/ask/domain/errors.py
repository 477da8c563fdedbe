"""Errors of the service for human tasks."""

from sluice.contracts.common.problems import ServiceError


class LinkExpired(ServiceError):
    """The link is no longer valid."""

    status, slug, title = 410, "link-ended", "The link has ended"
