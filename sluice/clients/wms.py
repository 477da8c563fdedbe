"""Client of the WMS: the generated calls, and the protocol of pilots."""

from uuid import UUID

from sluice.clients.base import API
from sluice.clients.generated.wms import WmsCalls
from sluice.clients.job_pages import JobPages
from sluice.contracts.pilots.heartbeats import Heartbeat, HeartbeatAnswer
from sluice.contracts.pilots.leases import Lease, LeaseRequest
from sluice.contracts.pilots.registration import RegisterPilot, Registration
from sluice.contracts.pilots.reports import Report, ReportAnswers

#: Seconds for a response beyond the time for which the WMS waits for work.
_LEASE_GRACE = 10.0


class WmsClient(JobPages, WmsCalls):
    """Client of the WMS.

    The calls of pilots are not retried, because leases count from the moment of the request.
    """

    service = "wms"

    async def register(self, pilot: RegisterPilot) -> Registration:
        """Register a pilot."""
        return await self.call(
            "POST", f"{API}/pilots", body=pilot, answer=Registration, retry=False
        )

    async def lease(self, uid: UUID, request: LeaseRequest) -> Lease:
        """Lease jobs for a pilot.

        Raises:
            NotFound: There is no such pilot.
        """
        return await self.call(
            "POST",
            f"{API}/pilots/{uid}/lease",
            body=request,
            answer=Lease,
            retry=False,
            seconds=request.wait + _LEASE_GRACE,
        )

    async def send_heartbeat(self, uid: UUID, heartbeat: Heartbeat) -> HeartbeatAnswer:
        """Send a heartbeat.

        Raises:
            NotFound: There is no such pilot.
        """
        return await self.call(
            "POST",
            f"{API}/pilots/{uid}/heartbeat",
            body=heartbeat,
            answer=HeartbeatAnswer,
            retry=False,
        )

    async def report(self, uid: UUID, report: Report) -> ReportAnswers:
        """Report the results of a pilot's jobs.

        Raises:
            NotFound: There is no such pilot.
        """
        return await self.call(
            "POST", f"{API}/pilots/{uid}/report", body=report, answer=ReportAnswers, retry=False
        )
