"""Sites that pilots come from: each enrols its own with a token that says what they may offer."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.base import Contract, Name, Timestamp
from sluice.contracts.resources import ResourceName
from sluice.contracts.secrets import SecretContract, ToldSecret

#: What every token of a site begins with.
SITE_TOKEN_PREFIX = "sluice-site_"  # noqa: S105 - its beginning
#: Days for which new pilots may come at most, and if nothing is said.
MOST_SITE_DAYS, USUAL_SITE_DAYS = 3660, 90

Few = Annotated[list[ResourceName], Field(max_length=100)]


class NewSite(Contract):
    """``days`` in which new pilots may come; those that are there by then stay. ``most_pilots``: at
    a time. ``labels``, ``resources``: names of what they may offer beside cores, memory, disk and
    GPUs. None: as many as they like."""

    name: Name
    days: Annotated[int, Field(ge=1, le=MOST_SITE_DAYS)] = USUAL_SITE_DAYS
    most_pilots: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    labels: Few | None = None
    resources: Few | None = None


class Site(Contract):
    """``pilots``: that are there now. ``revoked_at``: since then its pilots may do nothing."""

    name: str
    created_at: Timestamp
    expires_at: Timestamp
    most_pilots: int | None
    labels: list[str] | None
    resources: list[str] | None
    pilots: int
    revoked_at: Timestamp | None = None


class SiteList(Contract):
    """By name, those that were revoked last."""

    sites: list[Site]


class NewSiteSecret(SecretContract):
    """``secret``: what its pilots enrol with; it is told this once."""

    site: Site
    secret: ToldSecret
