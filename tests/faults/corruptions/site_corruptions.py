"""Corruptions of a good final state that concern sites."""

from datetime import timedelta

from sluice.contracts.common.states import AttemptOutcome
from tests.faults.checker.snapshot import Row, Snapshot
from tests.faults.corruptions.corruptions import Corruption


def _assign_attempt_to_site(state: Snapshot) -> Row:
    """Return an attempt whose pilot belongs to a site."""
    attempt = state.row("wms", "attempts", outcome=AttemptOutcome.FINISHED)
    pilot = state.row("wms", "pilots", uid=attempt["pilot"])
    pilot["site"] = "s"
    begins = pilot["registered_at"]
    site = {"uid": "s", "name": "guest", "created_at": begins, "revoked_at": None}
    state.rows("wms", "sites").append(site)
    return attempt


def lease_after_revocation(state: Snapshot) -> None:
    attempt = _assign_attempt_to_site(state)
    site = state.row("wms", "sites", uid="s")
    site["revoked_at"] = site["created_at"]
    attempt["leased_at"] += timedelta(hours=1)
    attempt["ended_at"] += timedelta(hours=1)


def report_after_revocation(state: Snapshot) -> None:
    attempt = _assign_attempt_to_site(state)
    state.row("wms", "sites", uid="s")["revoked_at"] = attempt["leased_at"]
    attempt["ended_at"] += timedelta(hours=1)


def report_before_site_is_added_again(state: Snapshot) -> None:
    report_after_revocation(state)
    second_time = state.row("wms", "attempts", outcome=AttemptOutcome.FINISHED)[
        "ended_at"
    ] + timedelta(hours=2)
    site = {"uid": "t", "name": "guest", "created_at": second_time, "revoked_at": None}
    state.rows("wms", "sites").append(site)


def add_idle_site(state: Snapshot) -> None:
    _assign_attempt_to_site(state)
    site = state.row("wms", "sites", uid="s") | {"uid": "t", "name": "partner"}
    state.rows("wms", "sites").append(site)


#: Check → corruptions that it must find.
SITE_CORRUPTIONS: dict[str, list[Corruption]] = {
    "revoked sites do nothing": [
        lease_after_revocation,
        report_after_revocation,
        report_before_site_is_added_again,
    ],
    "sites worked": [add_idle_site],
}
