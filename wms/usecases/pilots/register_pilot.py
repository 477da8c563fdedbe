"""Register a pilot."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sluice.contracts.common.problems import Finding, Forbidden, Unauthenticated
from sluice.contracts.pilots.registration import RegisterPilot, Registration
from sluice.servicekit.database import Connection
from wms.db.pilots.pilots import mark_lost_before, store_pilot
from wms.db.pilots.sites import find_pilot_starts, lock_site
from wms.domain.scheduling.sites import list_forbidden_offers
from wms.usecases.context import WmsContext


class ForeignPilot(Forbidden):
    """The uid belongs to a pilot with a key that the principal has not shown."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(
            f"the pilot {uid} has registered with a key, but the request was not signed with this"
            " key: another pilot needs another uid",
            uid=uid,
        )


class SiteExpired(Unauthenticated):
    """The site may have no new pilots."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no new pilots of the site {name} are accepted: an administrator can add it again"
            " (`sluice site revoke`, `sluice site add`); its registered pilots stay"
        )


class SiteLimitExceeded(Forbidden):
    """The pilot offers more than its site may, or is one too many."""

    def __init__(self, name: str, sentences: Sequence[str]) -> None:
        super().__init__(
            f"the site {name} does not admit this pilot: {'; '.join(sentences)}",
            findings=[Finding(message=sentence) for sentence in sentences],
        )


async def register_pilot(
    context: WmsContext, pilot: RegisterPilot, *, key: str | None = None, site: UUID | None = None
) -> Registration:
    """Register the pilot as active, with its current resources.

    ``key`` is the thumbprint of the key that it has shown. A repetition updates the same pilot.
    Lost pilots of the same name and host need no more attention.

    Raises:
        ForeignPilot: The uid belongs to another pilot.
        SiteExpired: The site may have no new pilots.
        SiteLimitExceeded: The pilot offers more than its site may, or is one too many.
    """
    async with context.database.transaction() as transaction:
        if site is not None:
            lease = context.rules.lease_duration
            name = await _require_space(
                transaction.connection, pilot, key=key, site=site, lease=lease
            )
            # Statistics of pilots go by name and host, so no site can affect those of other
            # sites' pilots.
            pilot = pilot.model_copy(update={"host": f"{pilot.host} at {name}"})
        if not await store_pilot(transaction.connection, pilot, key=key, site=site):
            raise ForeignPilot(pilot.uid)
        await mark_lost_before(transaction.connection, name=pilot.name, host=pilot.host)
    return Registration(heartbeat=context.rules.heartbeat, lease=context.rules.lease)


async def _require_space(
    connection: Connection, pilot: RegisterPilot, *, key: str | None, site: UUID, lease: timedelta
) -> str:
    """Check that the site may have the pilot, and return the site's name.

    A pilot that has enrolled before needs only its key, even if the site may have no new pilots. In
    that case the key is good for one pilot at a time.

    Raises:
        SiteExpired: The site may have no new pilots.
        SiteLimitExceeded: The pilot offers more than its site may, or is one too many.
    """
    locked = await lock_site(connection, site)
    if locked is None:
        raise SiteExpired(str(site))
    own_site = locked.site
    if key is None:
        raise SiteLimitExceeded(own_site.name, ["it has presented no key"])
    if own_site.revoked_at is not None:
        raise SiteExpired(own_site.name)
    starts = await find_pilot_starts(connection, key, site=site, pilot=pilot.uid, lease=lease)
    if locked.is_over and not starts.any:
        raise SiteExpired(own_site.name)
    violations = list_forbidden_offers(own_site, pilot.resources)
    if locked.is_over and starts.another_is_there and not starts.itself:
        violations.append(
            "no new pilots are admitted, and another pilot with this key may still be running"
        )
    if (
        not starts.is_there
        and own_site.most_pilots is not None
        and own_site.pilots >= own_site.most_pilots
    ):
        violations.append(
            f"it may have at most {own_site.most_pilots} pilots at a time, and has"
            f" {own_site.pilots}"
        )
    if violations:
        raise SiteLimitExceeded(own_site.name, violations)
    return own_site.name
