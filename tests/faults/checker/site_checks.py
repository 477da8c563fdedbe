"""Pilots of sites have worked, and none of a site that was revoked until it was added anew."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from tests.faults.checker.snapshot import Row, group
from tests.faults.checker.view import View

#: For which the WMS may not know that a site was revoked (5 s), and an answer may have been held
#: up by other faults.
_GRACE = timedelta(seconds=20)
#: Outcomes that somebody has reported.
_REPORTED = {"finished", "failed"}


def check_revoked_sites_do_nothing(view: View) -> Iterator[str]:
    for name, sites in group(view.state.rows("wms", "sites"), "name").items():
        for row in _attempts(view, sites):
            what = f"{name}: attempt {row['attempt']} at job {row['job_id']}"
            if not _holds(sites, row["leased_at"]):
                yield f"{what} was leased to a pilot of a revoked site at {row['leased_at']}"
            elif row["outcome"] in _REPORTED and not _holds(sites, row["ended_at"]):
                yield f"{what} was reported by a pilot of a revoked site at {row['ended_at']}"


def check_sites_worked(view: View) -> Iterator[str]:
    for name, sites in group(view.state.rows("wms", "sites"), "name").items():
        if not any(row["outcome"] == "finished" for row in _attempts(view, sites)):
            yield f"{name}: its pilots have finished nothing"


def _attempts(view: View, sites: list[Row]) -> Iterator[Row]:
    """Of the pilots of sites of one name: whoever was of the one before is of the new one later."""
    own: set[Any] = {row["uid"] for row in sites}
    pilots = {row["uid"] for row in view.state.rows("wms", "pilots") if row["site"] in own}
    return (row for row in view.state.rows("wms", "attempts") if row["pilot"] in pilots)


def _holds(sites: list[Row], at: datetime) -> bool:
    return any(
        row["created_at"] <= at and (row["revoked_at"] is None or at <= row["revoked_at"] + _GRACE)
        for row in sites
    )
