"""Pilots as people see them."""

from enum import StrEnum
from uuid import UUID

from pydantic import Field

from sluice.contracts.chains.attention import Acknowledgement
from sluice.contracts.common.base import Contract, Name, Timestamp
from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.resources import AllocatedAmounts, describe_allocation
from sluice.contracts.jobs.warm_workers import LoadedTools, LoadState
from sluice.contracts.pilots.nodes import NodeResources, WithIsolation


class PilotActivity(StrEnum):
    """What a pilot does, for people."""

    STARTING = "starting"  #: registered, and not heard of since
    WORKING = "working"
    RECONFIGURING = "reconfiguring"  #: loads tools, and no slot works
    IDLE = "idle"
    DRAINING = "draining"  #: finishes its jobs and takes no others
    STOPPING = "stopping"  #: hands its jobs back
    FAILED = "failed"  #: sends no heartbeats
    GONE = "gone"


class Pilot(WithIsolation):
    """A pilot.

    Attributes:
        uid: Its uid.
        name: Its name.
        host: The name of its node.
        state: Its state.
        slots: The number of its slots.
        version: The version of Sluice that it runs. Empty from an older WMS.
        resources: The resources that it offers.
        registered_at: When it registered.
        seen_at: When it last sent a heartbeat.
        leased: The number of its leased jobs, as reported by heartbeats.
        running: The number of its running jobs, as reported by heartbeats.
        finished: The number of attempts that succeeded.
        failed: The number of attempts that failed.
        busy: The number of slots with a job.
        allocated: The allocation of the jobs in these slots.
        acknowledged: Who has acknowledged that it is lost.
        stopping: It hands its jobs back.
        loaded: The tools that it has loaded.
        to_load: The step whose jobs it gets first.
        trouble: Why it takes no jobs now. Empty if it takes jobs.
        quarantined_steps: Steps whose jobs fail on this pilot and succeed on others. It rarely gets
            such jobs.
    """

    uid: UUID
    name: Name
    host: str
    state: PilotState
    slots: int
    version: str = ""
    resources: NodeResources
    registered_at: Timestamp
    seen_at: Timestamp
    leased: int = 0
    running: int = 0
    finished: int = 0
    failed: int = 0
    busy: int | None = None
    allocated: AllocatedAmounts | None = None
    acknowledged: Acknowledgement | None = None
    stopping: bool = False
    loaded: LoadedTools = Field(default_factory=list)
    to_load: str | None = None
    trouble: str = ""
    quarantined_steps: list[str] = Field(default_factory=list)

    @property
    def loading_tools(self) -> int:
        """Return the number of slots that are loading a tool for their next job."""
        return sum(tool.state is LoadState.LOADING for tool in self.loaded)

    @property
    def activity(self) -> PilotActivity:
        """Return what the pilot does now."""
        match self.state:
            case PilotState.ACTIVE:
                return self._activity_of_active()
            case PilotState.DRAINING:
                return PilotActivity.STOPPING if self.stopping else PilotActivity.DRAINING
            case PilotState.LOST:
                return PilotActivity.FAILED
            case PilotState.GONE:
                return PilotActivity.GONE

    def _activity_of_active(self) -> PilotActivity:
        if self.busy_slots > self.loading_tools:
            return PilotActivity.WORKING
        if self.loading_tools:
            return PilotActivity.RECONFIGURING
        started = self.seen_at == self.registered_at
        return PilotActivity.STARTING if started else PilotActivity.IDLE

    def in_use(self, between: str = " of ") -> dict[str, str]:
        """Return how much of the node's capacity jobs use, by resource, such as ``2 of 8`` cores.

        Memory and disk are in MiB. Disk is included if jobs have requested some.
        """
        has = self.resources
        offered = AllocatedAmounts(
            cores=has.cores, ram=has.ram, disk=has.disk, gpus=len(has.gpus), named=has.named
        )
        return describe_allocation(self.allocated or AllocatedAmounts(), offered, between)

    @property
    def busy_slots(self) -> int:
        """Return the number of slots with a job.

        If an older WMS does not tell the number, the result is an upper limit.
        """
        if self.busy is not None:
            return self.busy
        return (
            min(self.slots, self.running + self.leased)
            if self.state in {PilotState.ACTIVE, PilotState.DRAINING}
            else 0
        )


class PilotList(Contract):
    """A page of pilots.

    Attributes:
        after: The cursor of the next page. None means that this is the last page.
        total: The number of pilots on all pages.
    """

    pilots: list[Pilot]
    after: str | None = None
    total: int
