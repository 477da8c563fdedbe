"""Settings of the WMS: ``SLUICE_WMS_…`` in the environment."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from sluice.contracts.access.services import CallingService
from sluice.contracts.common.base import Contract
from sluice.contracts.common.states import ContainerEngine, SandboxKind
from sluice.contracts.jobs.resources import Labels, NamedAmounts
from sluice.contracts.jobs.simulation import PolicyName
from sluice.servicekit.sealing import SealingSettings
from wms.domain.scheduling.rank import RankWeights

_RANK_WEIGHTS = RankWeights()


class LaunchableNode(Contract):
    """A kind of node that can be launched; ``ram`` and ``disk`` in MiB."""

    cores: Annotated[float, Field(gt=0)]
    ram: Annotated[int, Field(gt=0)]
    disk: Annotated[int, Field(gt=0)] = 1 << 40
    gpus: Annotated[int, Field(ge=0)] = 0
    containers: list[ContainerEngine] = Field(default_factory=list)
    sandbox: SandboxKind = SandboxKind.NONE
    resources: NamedAmounts = Field(default_factory=dict)
    labels: Labels = Field(default_factory=dict)


class WmsSettings(SealingSettings):
    """The settings of the WMS."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_WMS_")

    port: int = CallingService.WMS.port
    #: Most bytes of a request's body (413); it may have one value per 16 bytes. Reports contain
    #: many jobs.
    largest_body: int = Field(default=64 * 1024 * 1024, ge=64 * 1024)
    #: Seconds between two heartbeats of a pilot.
    heartbeat: float = Field(default=10.0, gt=0)
    #: Seconds until the lease of a silent pilot expires. At least three heartbeats.
    lease: float = Field(default=60.0, gt=0)
    #: Seconds after the expiry of a lease until the job is leased again.
    lease_grace: float = Field(default=1.0, ge=0)
    #: Seconds of silence after which a pilot is shown as lost.
    pilot_timeout: float = Field(default=120.0, gt=0)
    #: Seconds that a job may take beyond its time limit and the time for its files, though its
    #: pilot renews the lease. A pilot may also have a job for this time without starting it. Then
    #: the pilot is told to stop it, and another one gets it.
    deadline_grace: float = Field(default=300.0, gt=0)
    #: Kinds of nodes that can be launched in addition to those of present pilots: `[{"cores": 64,
    #: "ram": 256000, "gpus": 4}]` (also `disk`, `containers`: names of engines, `sandbox`:
    #: `"namespaces"`, and `resources` and `labels` as for pilots). A job that fits neither will
    #: never run, and `sluice run` ends.
    launchable: list[LaunchableNode] | None = None
    #: Seconds until a job that fits no present pilot counts as one that will never run: another
    #: pilot may be on its way.
    fit_grace: float = Field(default=30.0, ge=0)
    #: Pilots lost in a row with a job before the job is quarantined.
    max_node_losses: int = Field(default=5, ge=1)
    #: Seconds between two checks for work while a request waits; events make it faster.
    poll_period: float = Field(default=2.0, gt=0)
    #: Seconds between two checks of tasks whose input is not complete; events make it faster.
    split_waiting_tasks_period: float = Field(default=2.0, gt=0)
    #: Files read from the DMS, and jobs made, in one page.
    split_page: int = Field(default=2000, ge=1, le=10_000)
    #: Tasks that are split at the same time.
    split_parallel: int = Field(default=3, ge=1, le=16)
    #: Seconds between two checks for expired leases.
    expire_leases_period: float = Field(default=1.0, gt=0)
    #: Seconds between two checks whether storages have space for waiting jobs.
    watch_space_period: float = Field(default=5.0, gt=0)
    #: Seconds between two steps of the rank formula.
    update_ranks_period: float = Field(default=30.0, gt=0)
    #: Placement policy of warm workers: `sluice` (each pilot chooses what earns most) or `watchdog`
    #: (rounds, by queue lengths and the priorities of steps).
    placement: PolicyName = PolicyName.SLUICE
    #: Seconds between two rounds of a placement policy that works in rounds.
    place_pilots_period: float = Field(default=10.0, gt=0)
    #: Weights of the rank formula, rank(i+1) = α·aging(i) + β·retries(i) + γ·rank(i): α, for each
    #: minute that a task's ready jobs have waited.
    rank_alpha: float = Field(default=_RANK_WEIGHTS.alpha, ge=0, le=1000)
    #: β, for each failed attempt per job of the task.
    rank_beta: float = Field(default=_RANK_WEIGHTS.beta, ge=0, le=1000)
    #: γ, of the gain so far: 0 forgets it at once. It must be below 1, or ranks grow forever.
    rank_gamma: float = Field(default=_RANK_WEIGHTS.gamma, ge=0, lt=1)
    #: Seconds between two checks for ended tasks whose job times are not counted yet.
    count_ended_tasks_period: float = Field(default=5.0, gt=0)
    #: How outputs are checked before a pilot's report counts: `size` (they exist and have the
    #: reported size), `content` (each is read; for small files, and for pilots and nodes that are
    #: not trusted), or `no`.
    look_at_outputs: Literal["no", "size", "content"] = "size"
    #: Seconds between two updates of the statistics of pilots.
    learn_times_period: float = Field(default=1.0, gt=0)
    #: Keys that sign the tokens of pilots, separated by commas, the newest last. Without any,
    #: pilots get no tokens.
    pilot_keys: SecretStr | None = None
    #: The token with which pilots register; it permits nothing else. Without it, and with
    #: `service_keys`, no pilot can register.
    pilot_token: SecretStr | None = None
    #: Connections to the database.
    database_connections: int = Field(default=10, ge=4, le=200)
