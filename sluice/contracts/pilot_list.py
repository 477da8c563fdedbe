"""Pilots as people see them: what each is, offers and does."""

import operator
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.attention import Acknowledgement
from sluice.contracts.base import Contract, Name, Timestamp, absent
from sluice.contracts.pilots import NodeResources, WithIsolation
from sluice.contracts.resources import AllocatedAmounts, taken_in_words
from sluice.contracts.states import PilotState
from sluice.contracts.warm_workers import LoadedTools, LoadState


class PilotActivity(StrEnum):
    """What a pilot does, for a person."""

    STARTING = "starting"  #: has registered, and not been heard of since
    WORKING = "working"
    RECONFIGURING = "reconfiguring"  #: loads tools; no slot works meanwhile
    IDLE = "idle"
    DRAINING = "draining"  #: finishes what it has
    STOPPING = "stopping"  #: hands back what it has
    FAILED = "failed"  #: stopped answering
    GONE = "gone"


class Pilot(WithIsolation):
    """``leased``, ``running``: by its heartbeats. Pages alone have ``busy``: slots with a job,
    ``booked``: by jobs, ``stopping``: hands them back, ``to_load``: the step that goes first."""

    uid: UUID
    name: Name
    host: str
    state: PilotState
    slots: int
    resources: NodeResources
    registered_at: Timestamp
    seen_at: Timestamp
    leased: int = 0
    running: int = 0
    finished: int = 0
    failed: int = 0
    busy: int | None = Field(default=None, exclude_if=absent)
    booked: AllocatedAmounts | None = Field(default=None, exclude_if=absent)
    acknowledged: Acknowledgement | None = Field(default=None, exclude_if=absent)
    stopping: Annotated[bool, Field(exclude_if=operator.not_)] = False
    loaded: LoadedTools = Field(default_factory=list)
    to_load: Annotated[str | None, Field(exclude_if=absent)] = None
    #: Why it takes no jobs now; empty: it takes some.
    trouble: Annotated[str, Field(exclude_if=operator.not_)] = ""
    #: Steps at which its attempts fail where those of others succeed: it gets a job now and then.
    distrusted: Annotated[list[str], Field(exclude_if=operator.not_)] = Field(default_factory=list)

    @property
    def loading_tools(self) -> int:
        """Number of slots that are loading a tool for their next job."""
        return sum(tool.state is LoadState.LOADING for tool in self.loaded)

    @property
    def activity(self) -> PilotActivity:
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
        """Of what its node offers, how much its jobs take, by what it is: ``2 of 8`` cores. MiB of
        memory and disk; disk, where jobs have asked for some."""
        has = self.resources
        offered = AllocatedAmounts(
            cores=has.cores, ram=has.ram, disk=has.disk, gpus=len(has.gpus), named=has.named
        )
        return taken_in_words(self.booked or AllocatedAmounts(), offered, between)

    @property
    def busy_slots(self) -> int:
        """Of a WMS of the release before, which does not say: at most as many."""
        if self.busy is not None:
            return self.busy
        return (
            min(self.slots, self.running + self.leased)
            if self.state in {PilotState.ACTIVE, PilotState.DRAINING}
            else 0
        )


class PilotList(Contract):
    """``after``: where the next page begins, ``total``: how many there are on all pages; both only
    for who asked for a page."""

    pilots: list[Pilot]
    after: str | None = Field(default=None, exclude_if=absent)
    total: int | None = Field(default=None, exclude_if=absent)

    @property
    def number(self) -> int:
        """Of those listed, where nobody says how many there are."""
        return len(self.pilots) if self.total is None else self.total
