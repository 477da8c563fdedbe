"""Settings of the WMS: ``SLUICE_WMS_…`` in the environment."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from sluice.contracts.base import Contract
from sluice.contracts.resources import Labels, NamedAmounts
from sluice.contracts.simulation import PolicyName
from sluice.contracts.states import ContainerEngine, SandboxKind
from sluice.servicekit.sealing import SealingSettings


class LaunchableNode(Contract):
    """``ram`` and ``disk`` in MiB."""

    cores: Annotated[float, Field(gt=0)]
    ram: Annotated[int, Field(gt=0)]
    disk: Annotated[int, Field(gt=0)] = 1 << 40
    gpus: Annotated[int, Field(ge=0)] = 0
    containers: list[ContainerEngine] = Field(default_factory=list)
    sandbox: SandboxKind = SandboxKind.NONE
    resources: NamedAmounts = Field(default_factory=dict)
    labels: Labels = Field(default_factory=dict)


class WmsSettings(SealingSettings):
    model_config = SettingsConfigDict(env_prefix="SLUICE_WMS_")

    port: int = 8082
    #: Most bytes of a request's body (413); it may have a value for every 16 of them. Reports carry
    #: many jobs.
    largest_body: int = Field(default=64 * 1024 * 1024, ge=64 * 1024)
    #: Seconds between two heartbeats of a pilot.
    heartbeat: float = Field(default=10.0, gt=0)
    #: Seconds after which a job whose pilot is silent is no longer that pilot's. At least three
    #: heartbeats.
    lease: float = Field(default=60.0, gt=0)
    #: Seconds beyond the lease before the job is given away.
    lease_grace: float = Field(default=1.0, ge=0)
    #: Seconds of silence after which a pilot is shown as lost.
    pilot_unseen: float = Field(default=120.0, gt=0)
    #: Seconds that a job may take beyond its time limit and the time for its files, though its
    #: pilot renews its lease; and that a pilot may have it without starting it. Then the pilot is
    #: told to stop it, and it goes elsewhere.
    deadline_grace: float = Field(default=300.0, gt=0)
    #: Kinds of nodes that can be launched beside those whose pilots are there: `[{"cores": 64,
    #: "ram": 256000, "gpus": 4}]` (also `disk`, `containers`: names of engines, `sandbox`:
    #: `"namespaces"`, and `resources` and `labels` as pilots have them). A job that fits neither
    #: will never run, and `sluice run` ends.
    launchable: list[LaunchableNode] | None = None
    #: Seconds until a job that fits no pilot that is there is taken for one that will never run:
    #: another may be on its way.
    fit_grace: float = Field(default=30.0, ge=0)
    #: Pilots lost in a row with a job before it is held for a person.
    losses: int = Field(default=5, ge=1)
    #: Seconds between two looks for work of a request that waits; events make it faster.
    poll: float = Field(default=2.0, gt=0)
    #: Seconds between two looks at tasks whose input is not complete; events make it faster.
    split_period: float = Field(default=2.0, gt=0)
    #: Files read from the DMS, and jobs made, in one go.
    split_page: int = Field(default=2000, ge=1, le=10_000)
    #: Tasks that are split at the same time.
    split_parallel: int = Field(default=3, ge=1, le=16)
    #: Seconds between two looks for leases that have run out.
    expiry_period: float = Field(default=1.0, gt=0)
    #: Seconds between two looks whether storages have room for what waits to be written to them.
    room_period: float = Field(default=5.0, gt=0)
    #: Seconds between two steps of the rank formula.
    rank_period: float = Field(default=30.0, gt=0)
    #: Who decides which pilot loads which tool that stays loaded: `sluice` (each pilot by what it
    #: would earn) or `watchdog` (rounds, by queue lengths and the priorities of steps).
    placement: PolicyName = PolicyName.SLUICE
    #: Seconds between two rounds of a placement policy that works in rounds.
    placement_period: float = Field(default=10.0, gt=0)
    #: Weights of the rank formula, rank(i+1) = α·aging(i) + β·retries(i) + γ·rank(i): α, for each
    #: minute that a task's ready jobs have waited.
    rank_alpha: float = Field(default=0.01, ge=0, le=1000)
    #: β, for each failed attempt per job of the task.
    rank_beta: float = Field(default=0.1, ge=0, le=1000)
    #: γ, of the gain so far: 0 forgets it at once; it has to be below 1, or ranks grow for ever.
    rank_gamma: float = Field(default=0.9, ge=0, lt=1)
    #: Seconds between two looks for tasks that have ended and whose jobs' times are to be counted.
    times_period: float = Field(default=5.0, gt=0)
    #: What is looked at of the outputs that a pilot names, before its report counts: `size` (they
    #: are there, and as large as it says), `content` (each is read; for small files, and for pilots
    #: and nodes that nobody vouches for), or `no`.
    look_at_outputs: Literal["no", "size", "content"] = "size"
    #: Seconds between two times that what was seen of workers is written down.
    learn_period: float = Field(default=1.0, gt=0)
    #: Keys that tokens of pilots are signed with, separated by commas, the newest last. Without
    #: any, pilots get none.
    pilot_keys: SecretStr | None = None
    #: The token with which pilots register, and which opens nothing else. Without one, and with
    #: `service_keys`, none can.
    pilot_token: SecretStr | None = None
    #: Connections to the database.
    database_connections: int = Field(default=10, ge=4, le=200)
