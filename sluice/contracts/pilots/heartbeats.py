"""Heartbeats of pilots, and the answers with commands to them."""

from typing import Annotated, Literal

from pydantic import Field

from sluice.contracts.common.base import (
    Contract,
    Timestamp,
)
from sluice.contracts.common.states import (
    AttemptPhase,
)
from sluice.contracts.jobs.warm_workers import LoadedTools
from sluice.contracts.pilots.leases import JobToken


class StartedJob(JobToken):
    """An attempt that has started.

    Attributes:
        bytes: The size of the outputs. Present while they are stored.
    """

    started_at: Timestamp
    phase: AttemptPhase | None = None
    bytes: Annotated[int | None, Field(ge=0)] = None


#: Why a pilot takes no jobs, as the end of a sentence.
Trouble = Annotated[str, Field(max_length=400)]


class Heartbeat(Contract):
    """A heartbeat, which renews the leases of the named jobs.

    Attributes:
        waiting: Jobs that have not started.
        confirmed: Jobs whose commands were carried out since the last heartbeat.
        trouble: Why the pilot takes no jobs now. Empty if it takes jobs.
    """

    running: list[StartedJob] = Field(default_factory=list)
    waiting: list[JobToken] = Field(default_factory=list)
    confirmed: list[JobToken] = Field(default_factory=list)
    loaded: LoadedTools = Field(default_factory=list)
    trouble: Trouble = ""


class Command(Contract):
    """A command to a pilot.

    Attributes:
        kind: ``cancel`` stops the attempt, and the pilot reports it as canceled. ``abandon`` stops
            the attempt without a report, because the job no longer belongs to the pilot.
    """

    kind: Literal["cancel", "abandon"]
    job: JobToken


class HeartbeatAnswer(Contract):
    """The answer to a heartbeat.

    Attributes:
        lease: The duration of the renewed leases in seconds.
        drain: The pilot must finish its jobs, take no others, and sign off.
    """

    lease: float
    commands: list[Command] = Field(default_factory=list)
    drain: bool = False
