"""Sites of pilots. The pilots of a site enrol with a token that limits what they may offer."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.access.secrets import OneTimeSecret, SecretContract
from sluice.contracts.common.base import Contract, Name, Timestamp
from sluice.contracts.jobs.resources import ResourceName

#: The prefix of the tokens of sites.
SITE_TOKEN_PREFIX = "sluice-site_"  # noqa: S105 - its beginning
#: The most days in which new pilots may enrol, and the default.
MAX_SITE_DAYS, USUAL_SITE_DAYS = 3660, 90

Few = Annotated[list[ResourceName], Field(max_length=100)]


class NewSite(Contract):
    """A request to create a site.

    Attributes:
        name: The name of the site.
        days: Days in which new pilots may enrol. Pilots that have enrolled by then stay.
        most_pilots: The most pilots at the same time. None means that there is no limit.
        labels: The names of labels that its pilots may offer. None means any labels.
        resources: The names of resources that its pilots may offer beside cores, memory, disk and
            GPUs. None means any resources.
    """

    name: Name
    days: Annotated[int, Field(ge=1, le=MAX_SITE_DAYS)] = USUAL_SITE_DAYS
    most_pilots: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    labels: Few | None = None
    resources: Few | None = None


class Site(Contract):
    """A site.

    Attributes:
        name: The name of the site.
        created_at: When it was added.
        expires_at: Until when new pilots may enrol.
        most_pilots: The most pilots at the same time. None means that there is no limit.
        labels: The names of labels that its pilots may offer. None means any labels.
        resources: The names of other resources that its pilots may offer. None means any resources.
        pilots: The number of its pilots now.
        revoked_at: When it was revoked. From then on, requests of its pilots are refused.
    """

    name: str
    created_at: Timestamp
    expires_at: Timestamp
    most_pilots: int | None
    labels: list[str] | None
    resources: list[str] | None
    pilots: int
    revoked_at: Timestamp | None = None


class SiteList(Contract):
    """Sites by name, the revoked ones last."""

    sites: list[Site]


class NewSiteSecret(SecretContract):
    """A new site and its token.

    Attributes:
        site: The site.
        secret: The token with which its pilots enrol. No other answer shows it.
    """

    site: Site
    secret: OneTimeSecret
