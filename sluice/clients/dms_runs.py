"""Calls to the DMS for periods, runs and frames."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import RootModel

from sluice.clients.base import API, ServiceClient, build_path
from sluice.clients.paging import MAX_FILES
from sluice.contracts.data.datasets import RegistrationCounts
from sluice.contracts.data.runs import (
    EndTime,
    Frame,
    NewFrame,
    NewFrames,
    NewPeriod,
    NewRun,
    Period,
    Run,
)


class _Periods(RootModel[list[Period]]): ...


class _Runs(RootModel[list[Run]]): ...


class _Frames(RootModel[list[Frame]]): ...


class RunCalls(ServiceClient):
    """Calls for periods, runs and frames."""

    async def register_period(self, new: NewPeriod) -> Period:
        """Register a period."""
        return await self.call("POST", f"{API}/periods", body=new, answer=Period)

    async def list_periods(self) -> list[Period]:
        """Return all periods."""
        return (await self.call("GET", f"{API}/periods", answer=_Periods)).root

    async def end_period(self, name: str, ended_at: datetime | None) -> Period:
        """Set the end of a period, which must be after its start."""
        body = EndTime(ended_at=ended_at)
        return await self.call("PATCH", build_path("periods", name), body=body, answer=Period)

    async def end_run(self, number: int, ended_at: datetime | None) -> Run:
        """Set the end of a run, which must be after its start."""
        body = EndTime(ended_at=ended_at)
        return await self.call("PATCH", f"{API}/runs/{number}", body=body, answer=Run)

    async def register_run(self, new: NewRun) -> Run:
        """Register a run."""
        return await self.call("POST", f"{API}/runs", body=new, answer=Run)

    async def list_runs(self, *, period: str | None = None) -> list[Run]:
        """Return all runs, or the runs of a period."""
        return (await self.call("GET", f"{API}/runs", answer=_Runs, params={"period": period})).root

    async def get_run(self, number: int) -> Run:
        """Return a run."""
        return await self.call("GET", f"{API}/runs/{number}", answer=Run)

    async def register_frames(self, run: int, frames: Sequence[NewFrame]) -> RegistrationCounts:
        """Register frames of a run."""
        return await self.call(
            "POST",
            f"{API}/runs/{run}/frames",
            body=NewFrames(frames=list(frames)),
            answer=RegistrationCounts,
        )

    async def list_frames(
        self, run: int, *, after: int = -1, limit: int = MAX_FILES
    ) -> list[Frame]:
        """Return the frames with numbers above ``after``."""
        params = {"after": after, "limit": limit}
        return (
            await self.call("GET", f"{API}/runs/{run}/frames", answer=_Frames, params=params)
        ).root
