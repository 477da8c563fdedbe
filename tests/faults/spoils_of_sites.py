"""Corruptions of a good final state that concern sites."""

from datetime import timedelta

from sluice.contracts.common.states import AttemptOutcome
from tests.faults.checker.snapshot import Row, Snapshot
from tests.faults.spoils import Spoil


def _of_a_site(state: Snapshot) -> Row:
    """Return an attempt whose pilot belongs to a site."""
    attempt = state.first("wms", "attempts", outcome=AttemptOutcome.FINISHED)
    pilot = state.first("wms", "pilots", uid=attempt["pilot"])
    pilot["site"] = "s"
    begins = pilot["registered_at"]
    site = {"uid": "s", "name": "guest", "created_at": begins, "revoked_at": None}
    state.rows("wms", "sites").append(site)
    return attempt


def leased_after_the_revocation(state: Snapshot) -> None:
    attempt = _of_a_site(state)
    site = state.first("wms", "sites", uid="s")
    site["revoked_at"] = site["created_at"]
    attempt["leased_at"] += timedelta(hours=1)
    attempt["ended_at"] += timedelta(hours=1)


def reported_after_the_revocation(state: Snapshot) -> None:
    attempt = _of_a_site(state)
    state.first("wms", "sites", uid="s")["revoked_at"] = attempt["leased_at"]
    attempt["ended_at"] += timedelta(hours=1)


def reported_before_it_was_added_anew(state: Snapshot) -> None:
    reported_after_the_revocation(state)
    again = state.first("wms", "attempts", outcome=AttemptOutcome.FINISHED)["ended_at"] + timedelta(
        hours=2
    )
    site = {"uid": "t", "name": "guest", "created_at": again, "revoked_at": None}
    state.rows("wms", "sites").append(site)


def site_idle(state: Snapshot) -> None:
    _of_a_site(state)
    site = state.first("wms", "sites", uid="s") | {"uid": "t", "name": "partner"}
    state.rows("wms", "sites").append(site)


#: Check → corruptions that it must find.
SITE_SPOILS: dict[str, list[Spoil]] = {
    "revoked sites do nothing": [
        leased_after_the_revocation,
        reported_after_the_revocation,
        reported_before_it_was_added_anew,
    ],
    "sites worked": [site_idle],
}
