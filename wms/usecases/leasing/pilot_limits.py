"""Limits of pilots that fail where others succeed."""

from collections.abc import Mapping

from sluice.servicekit.database import Connection
from wms.db.pilots.pilot_times import (
    PilotIdentity,
    WorkKind,
    list_active_identities,
    list_failing_works,
    list_times,
)
from wms.domain.scheduling.pilot_times import PilotLimit, combine_times, decide_pilot_limit

#: Limits of the pilots that are not fully trusted, by kind of work.
PilotLimitsByWork = Mapping[WorkKind, Mapping[PilotIdentity, PilotLimit]]


async def list_pilot_limits(connection: Connection) -> PilotLimitsByWork:
    """Return the limits of the pilots that fail where other active pilots succeed.

    Pilots that are gone do not count: they are no reason to let work wait.
    """
    works = await list_failing_works(connection)
    if not works:
        return {}
    present = await list_active_identities(connection)
    limits_by_work: dict[WorkKind, dict[PilotIdentity, PilotLimit]] = {}
    for work, identities in (await list_times(connection, works)).items():
        for identity, own in identities.items():
            others = combine_times(
                times
                for other, times in identities.items()
                if other != identity and other in present
            )
            if (limit := decide_pilot_limit(own, others)) is not PilotLimit.FULL:
                limits_by_work.setdefault(work, {})[identity] = limit
    return limits_by_work


def list_quarantined_steps(pilot_limits: PilotLimitsByWork, identity: PilotIdentity) -> list[str]:
    """Return the steps for which the pilot is quarantined."""
    return sorted(
        {
            work.step
            for work, limits in pilot_limits.items()
            if limits.get(identity) is PilotLimit.NONE
        }
    )
