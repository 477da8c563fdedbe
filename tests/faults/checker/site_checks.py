"""Pilots of sites have worked, and those of a revoked site have not until it was added again."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from tests.faults.checker.snapshot import Row, group_rows
from tests.faults.checker.view import View

#: The WMS may learn of a revocation after 5 s, and other faults may delay an answer.
_GRACE = timedelta(seconds=20)
#: Outcomes that a pilot reported.
_REPORTED_OUTCOMES = {"finished", "failed"}


def check_revoked_sites_do_nothing(view: View) -> Iterator[str]:
    for name, sites in group_rows(view.state.rows("wms", "sites"), "name").items():
        for row in _list_attempts(view, sites):
            what = f"{name}: attempt {row['attempt']} at job {row['job_id']}"
            if not _has_valid_site(sites, row["leased_at"]):
                yield f"{what} was leased to a pilot of a revoked site at {row['leased_at']}"
            elif row["outcome"] in _REPORTED_OUTCOMES and not _has_valid_site(
                sites, row["ended_at"]
            ):
                yield f"{what} was reported by a pilot of a revoked site at {row['ended_at']}"


def check_sites_worked(view: View) -> Iterator[str]:
    for name, sites in group_rows(view.state.rows("wms", "sites"), "name").items():
        if not any(row["outcome"] == "finished" for row in _list_attempts(view, sites)):
            yield f"{name}: its pilots have finished nothing"


def _list_attempts(view: View, sites: list[Row]) -> Iterator[Row]:
    """Yield attempts of pilots of all sites of one name, as pilots move to the new site."""
    own: set[Any] = {row["uid"] for row in sites}
    pilots = {row["uid"] for row in view.state.rows("wms", "pilots") if row["site"] in own}
    return (row for row in view.state.rows("wms", "attempts") if row["pilot"] in pilots)


def _has_valid_site(sites: list[Row], at: datetime) -> bool:
    return any(
        row["created_at"] <= at and (row["revoked_at"] is None or at <= row["revoked_at"] + _GRACE)
        for row in sites
    )
