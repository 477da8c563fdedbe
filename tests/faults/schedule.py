"""The schedule of faults is a pure function of the seed, so that a run can be repeated.

Every schedule has every kind of fault. Within a kind each target is used once before any is used
again. Faults begin about every ``spacing`` seconds and last longer, so that several overlap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from tests.faults.workload.misbehaving_tool import MISBEHAVIOURS


class Kind(StrEnum):
    KILL = "kill"  #: SIGKILL
    FREEZE = "freeze"  #: SIGSTOP, and SIGCONT at the end; pilots beyond their leases
    RESTART_DATABASE_FAST = "restart-database-fast"
    RESTART_DATABASE_IMMEDIATE = "restart-database-immediate"
    RESTART_BROKER = "restart-broker"
    CUT = "cut"  #: a link refuses connections, and ends the existing ones
    RESET = "reset"  #: connections end with a TCP reset
    DELAY = "delay"  #: every byte is delayed
    BLACK_HOLE = "black-hole"  #: connections stay, but transfer nothing
    DUPLICATE = "duplicate"  #: copies of real messages are published again
    FILL = "fill"  #: the storages' file system is full
    CLOCK = "clock"  #: the clock of a service's processes jumps, and jumps back at the end
    KEYS = "keys"  #: all services get new keys, and the old ones are removed at the end
    TOOL = "tool"  #: a warm worker is killed or misbehaves during a job
    SITE = "site"  #: a site is revoked while its pilots have jobs, and added again at the end
    ENROLMENT = (
        "enrolment"  #: the enrolment token of a site expires, and one of its pilots is killed
    )
    TOKEN = "token"  #: a token is revoked while a script uses it, and replaced
    PROVIDER = "provider"  #: the OpenID provider is down or does not answer


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that begins at ``at`` and lasts ``seconds``; 0 is an instant or a restart.

    ``target`` is ``<service>/<replica, from 0>``, a link ``<from>><to>``, a server, a queue, a
    service, the storage, the keys, a site, the token, or ``<provider or tool>/<way to misbehave>``.
    ``amount`` is the seconds of a delay or of a clock's jump, the copies of a message, or 1 to
    freeze the children of a process, too.
    """

    number: int
    kind: Kind
    target: str
    at: float
    seconds: float
    amount: float = 0.0


#: Sites, each with pilots of the same name: the first is revoked and added again, and the second
#: may get no new pilots.
GUEST, PARTNER = SITES = ("guest", "partner")
#: Service → its number of replicas in the suite.
REPLICAS = {
    **{"dms": 1, "wms": 2, "operator": 1, "intake": 2, "chains": 2, "watcher": 2, "ask": 2},
    "pilot": 3,
    **dict.fromkeys(SITES, 1),
}
SERVICES = [name for name in REPLICAS if name not in {"pilot", *SITES}]

LINKS = [
    *(f"{name}>postgres" for name in SERVICES),
    *(f"{name}>rabbitmq" for name in SERVICES),
    "operator>dms", "operator>wms", "operator>chains", "intake>dms", "intake>operator",
    "intake>chains",
    "chains>dms", "chains>wms", "chains>watcher", "watcher>wms", "watcher>dms", "watcher>chains",
    "wms>dms", "pilot>wms", "ask>wms", "operator>ask",
]  # fmt: skip

#: Queues and events whose messages are repeated.
DESTINATIONS = [
    "wms.tasks",
    "wms.downstream-counts",
    "dms.files",
    "dms.releases",
    "dms.deletions",
    "dms.uploads",
    "dms.dataset-closed",
    "wms.task-ended",
]

#: Targets of the kinds that do not act on processes.
_TARGETS = {
    Kind.RESTART_DATABASE_FAST: ["postgres"],
    Kind.RESTART_DATABASE_IMMEDIATE: ["postgres"],
    Kind.RESTART_BROKER: ["rabbitmq"],
    **dict.fromkeys((Kind.CUT, Kind.RESET, Kind.DELAY, Kind.BLACK_HOLE), LINKS),
    Kind.DUPLICATE: DESTINATIONS,
    Kind.FILL: ["storage"],
    Kind.CLOCK: [f"clock/{name}" for name in SERVICES],
    Kind.KEYS: ["keys"],
    Kind.TOOL: [f"tool/{way}" for way in MISBEHAVIOURS],
    Kind.SITE: [f"site/{GUEST}"],
    Kind.ENROLMENT: [f"site/{PARTNER}"],
    Kind.TOKEN: ["token"],
    Kind.PROVIDER: ["provider/down", "provider/hangs"],
}

#: Kind → its share in all faults; 66 faults include each way of a tool to misbehave.
_SHARES = {
    Kind.KILL: 22,
    Kind.FREEZE: 6,
    Kind.RESTART_DATABASE_FAST: 2,
    Kind.RESTART_DATABASE_IMMEDIATE: 2,
    Kind.RESTART_BROKER: 2,
    Kind.CUT: 4,
    Kind.RESET: 4,
    Kind.DELAY: 4,
    Kind.BLACK_HOLE: 5,
    Kind.DUPLICATE: 4,
    Kind.FILL: 3,
    Kind.CLOCK: 4,
    Kind.KEYS: 2,
    Kind.TOOL: 9,
    Kind.SITE: 2,
    Kind.ENROLMENT: 2,
    Kind.TOKEN: 2,
    Kind.PROVIDER: 3,
}
#: Kinds in the first third, while there is work for every pilot.
_EARLY = {Kind.SITE}
#: Seconds after a fault's beginning before its target may be used again, for kinds without a
#: duration.
_QUIET = {
    **dict.fromkeys(
        (Kind.RESTART_DATABASE_FAST, Kind.RESTART_DATABASE_IMMEDIATE, Kind.RESTART_BROKER), 25.0
    ),
    **{Kind.SITE: 45.0, Kind.ENROLMENT: 20.0, Kind.TOKEN: 20.0, Kind.PROVIDER: 25.0},
}
_JUMPS = [-86_400.0, -3_600.0, -45.0, 45.0, 3_600.0, 86_400.0]


def make_schedule(
    seed: int, *, faults: int, spacing: float = 3.0, lease: float = 6.0
) -> list[Fault]:
    """Return the faults in order of time.

    ``lease`` is in seconds, so that a frozen pilot exceeds it. Raises ``ValueError`` for fewer
    faults than kinds.
    """
    random = Random(seed)
    waiting = _choose_targets(random, faults)
    # Faults of one target do not overlap, as the end of one would undo the other.
    busy: dict[str, float] = {}
    schedule: list[Fault] = []
    for number in range(1, faults + 1):
        at = round((number - 1) * spacing + random.uniform(0.0, 0.9 * spacing), 2)
        free = (
            i
            for i, (_, target) in enumerate(waiting)
            if busy.get(_get_fault_unit(target), -1.0) < at
        )
        kind, target = waiting.pop(next(free, 0))
        unit = _get_fault_unit(target)
        fault = _make_fault(
            random, number, kind, target=target, at=max(at, busy.get(unit, 0.0)), lease=lease
        )
        busy[unit] = fault.at + _QUIET.get(kind, fault.seconds)
        schedule.append(fault)
    return sorted(schedule, key=lambda fault: (fault.at, fault.number))


def _get_fault_unit(target: str) -> str:
    """Return the unit of a target. A unit has one fault at a time."""
    return "provider" if target.startswith("provider/") else target


def count_overlaps(schedule: Sequence[Fault]) -> int:
    """Count the faults that begin while another one lasts."""
    return sum(
        any(other.at < fault.at < other.at + other.seconds for other in schedule)
        for fault in schedule
    )


def _choose_targets(random: Random, faults: int) -> list[tuple[Kind, str]]:
    pairs = [
        (kind, target)
        for kind, count in _count_faults(faults).items()
        for target in _take_targets(_list_targets(random, kind), count)
    ]
    random.shuffle(pairs)
    third = len(pairs) // 3
    for late in range(third, len(pairs)):
        if pairs[late][0] in _EARLY:
            others = [place for place in range(third) if pairs[place][0] not in _EARLY]
            early = random.choice(others)
            pairs[early], pairs[late] = pairs[late], pairs[early]
    return pairs


def _count_faults(faults: int) -> dict[Kind, int]:
    """Return the number of faults by kind in proportion to the shares, at least one of each."""
    if faults < len(_SHARES):
        raise ValueError(
            f"a schedule has at least one fault of each of the {len(_SHARES)} kinds,"
            f" not {faults} in all"
        )
    total = sum(_SHARES.values())
    counts = {kind: max(1, faults * share // total) for kind, share in _SHARES.items()}
    while sum(counts.values()) != faults:
        step = 1 if sum(counts.values()) < faults else -1
        adjustable = [kind for kind in counts if counts[kind] + step >= 1]
        kind = max(
            adjustable, key=lambda kind: step * (_SHARES[kind] * faults / total - counts[kind])
        )
        counts[kind] += step
    return counts


def _list_targets(random: Random, kind: Kind) -> list[str]:
    """Return the targets of a kind in random order, one replica of every service first."""
    match kind:
        case Kind.KILL:
            rounds = [
                [f"{name}/{n}" for name, replicas in REPLICAS.items() if n < replicas]
                for n in range(3)
            ]
        case Kind.FREEZE:
            rounds = [
                [f"pilot/{n}" for n in range(REPLICAS["pilot"])],
                [f"{name}/0" for name in SERVICES],
            ]
        case _:
            rounds = [_TARGETS[kind]]
    return [target for one in rounds for target in random.sample(one, len(one))]


def _take_targets(targets: Sequence[str], count: int) -> Iterator[str]:
    return (targets[place % len(targets)] for place in range(count))


def _make_fault(
    random: Random, number: int, kind: Kind, *, target: str, at: float, lease: float
) -> Fault:
    seconds, amount = 0.0, 0.0
    match kind:
        case Kind.FREEZE if target.startswith("pilot/"):
            # Alone it is a process that hangs while its jobs end; with its children it is a machine
            # that was suspended.
            seconds, amount = (
                random.uniform(1.5 * lease, 2.5 * lease),
                float(target.endswith(("0", "2"))),
            )
        case Kind.FREEZE:
            seconds = random.uniform(2.0, 8.0)
        case Kind.CUT | Kind.RESET:
            seconds = random.uniform(1.0, 5.0)
        case Kind.DELAY:
            seconds, amount = random.uniform(5.0, 12.0), round(random.uniform(0.05, 0.6), 2)
        case Kind.BLACK_HOLE:
            seconds = random.uniform(4.0, 12.0)
        case Kind.FILL:
            seconds = random.uniform(3.0, 7.0)
        case Kind.KEYS:
            seconds = random.uniform(2.0, 12.0)
        case Kind.SITE:
            # Longer than the leases of its pilots and the messages in transit.
            seconds = random.uniform(5.0 * lease, 6.0 * lease)
        case Kind.PROVIDER:
            seconds = random.uniform(4.0, 12.0)
        case Kind.CLOCK:
            seconds, amount = random.uniform(8.0, 20.0), random.choice(_JUMPS)
        case Kind.DUPLICATE:
            seconds, amount = 0.0, float(random.randint(1, 3))
    return Fault(number, kind, target, round(at, 2), round(seconds, 2), amount)
