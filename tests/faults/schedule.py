"""Which faults happen when: a pure function of the seed, so that a run can be repeated.

Every kind of fault is in every schedule; within a kind, targets are dealt out like cards, none
twice before each was there once. Faults begin about every ``spacing`` seconds and last longer than
that, so that several are at work at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from tests.faults.fickle import WAYS


class Kind(StrEnum):
    KILL = "kill"  #: SIGKILL
    FREEZE = "freeze"  #: SIGSTOP, and SIGCONT at the end; pilots beyond their leases
    RESTART_DATABASE_FAST = "restart-database-fast"
    RESTART_DATABASE_IMMEDIATE = "restart-database-immediate"
    RESTART_BROKER = "restart-broker"
    CUT = "cut"  #: a link refuses connections, and ends those there are
    RESET = "reset"  #: connections end with a TCP reset
    DELAY = "delay"  #: every byte comes late
    BLACK_HOLE = "black-hole"  #: connections stay, nothing passes
    DUPLICATE = "duplicate"  #: copies of real messages are published once more
    FILL = "fill"  #: the storages' file system is full
    CLOCK = "clock"  #: the clock of a service's processes jumps, and back at the end
    KEYS = "keys"  #: all services get new keys, and the old ones are forgotten at the end
    TOOL = "tool"  #: one that stays loaded is killed, or misbehaves, in the middle of a job
    SITE = "site"  #: a site is revoked while its pilots have jobs, and added anew at the end
    ENROLMENT = "enrolment"  #: of a site, whose token is over; a pilot of it is killed
    TOKEN = "token"  #: of a person, revoked while a script works by it, which gets another
    PROVIDER = "provider"  #: of OpenID, which people sign in by, is down or answers nobody


@dataclass(frozen=True, slots=True)
class Fault:
    """``at``: seconds after the beginning. ``seconds``: how long it lasts; 0: an instant, or as
    long as a restart takes.

    ``target``: ``<service>/<replica, from 0>``, a link ``<from>><to>``, a server, a queue, a
    service, the storage, the keys, a site, the token, or ``<provider or tool>/<way to misbehave>``.
    ``amount``: seconds that a link delays or a clock jumps; copies of a message; of a freeze, 1:
    its children too.
    """

    number: int
    kind: Kind
    target: str
    at: float
    seconds: float
    amount: float = 0.0


#: Sites, each with a service of pilots that is called so: the first is sent away and comes back,
#: the other may have no new ones.
GUEST, PARTNER = SITES = ("guest", "partner")
#: Service → replicas, as the suite starts them.
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
    "wms.readers",
    "dms.files",
    "dms.releases",
    "dms.deletions",
    "dms.uploads",
    "dms.dataset-closed",
    "wms.task-ended",
]

#: Of the kinds that do not strike at processes.
_TARGETS = {
    Kind.RESTART_DATABASE_FAST: ["postgres"],
    Kind.RESTART_DATABASE_IMMEDIATE: ["postgres"],
    Kind.RESTART_BROKER: ["rabbitmq"],
    **dict.fromkeys((Kind.CUT, Kind.RESET, Kind.DELAY, Kind.BLACK_HOLE), LINKS),
    Kind.DUPLICATE: DESTINATIONS,
    Kind.FILL: ["storage"],
    Kind.CLOCK: [f"clock/{name}" for name in SERVICES],
    Kind.KEYS: ["keys"],
    Kind.TOOL: [f"tool/{way}" for way in WAYS],
    Kind.SITE: [f"site/{GUEST}"],
    Kind.ENROLMENT: [f"site/{PARTNER}"],
    Kind.TOKEN: ["token"],
    Kind.PROVIDER: ["provider/down", "provider/hangs"],
}

#: Kind → its share in all faults; of 66, each way of a tool to misbehave is there.
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
#: In the first third, while there is work for every pilot.
_EARLY = {Kind.SITE}
#: Seconds after a fault's beginning before the same target is struck again, where the fault does
#: not say how long it takes until all is well.
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
    """In order of time. ``lease``: seconds, so that a frozen pilot sleeps beyond it. Raises
    ``ValueError`` for fewer faults than there are kinds."""
    random = Random(seed)
    waiting = _deal(random, faults)
    # Two faults at one target do not overlap: the end of one would undo the other.
    busy: dict[str, float] = {}
    schedule: list[Fault] = []
    for number in range(1, faults + 1):
        at = round((number - 1) * spacing + random.uniform(0.0, 0.9 * spacing), 2)
        free = (i for i, (_, target) in enumerate(waiting) if busy.get(_struck(target), -1.0) < at)
        kind, target = waiting.pop(next(free, 0))
        struck = _struck(target)
        fault = _fault(
            random, number, kind, target=target, at=max(at, busy.get(struck, 0.0)), lease=lease
        )
        busy[struck] = fault.at + _QUIET.get(kind, fault.seconds)
        schedule.append(fault)
    return sorted(schedule, key=lambda fault: (fault.at, fault.number))


def _struck(target: str) -> str:
    """What a target is a part of, of which one is struck at a time."""
    return "provider" if target.startswith("provider/") else target


def overlaps(schedule: Sequence[Fault]) -> int:
    """How many faults begin while another one lasts."""
    return sum(
        any(other.at < fault.at < other.at + other.seconds for other in schedule)
        for fault in schedule
    )


def _deal(random: Random, faults: int) -> list[tuple[Kind, str]]:
    cards = [
        (kind, target)
        for kind, count in _counts(faults).items()
        for target in _take(_targets(random, kind), count)
    ]
    random.shuffle(cards)
    third = len(cards) // 3
    for late in range(third, len(cards)):
        if cards[late][0] in _EARLY:
            others = [place for place in range(third) if cards[place][0] not in _EARLY]
            early = random.choice(others)
            cards[early], cards[late] = cards[late], cards[early]
    return cards


def _counts(faults: int) -> dict[Kind, int]:
    """Faults of each kind in proportion to the shares, at least one of each; they add up."""
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


def _targets(random: Random, kind: Kind) -> list[str]:
    """All targets of a kind in a random order; of processes, one replica of every service comes
    before the others."""
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


def _take(targets: Sequence[str], count: int) -> Iterator[str]:
    return (targets[place % len(targets)] for place in range(count))


def _fault(
    random: Random, number: int, kind: Kind, *, target: str, at: float, lease: float
) -> Fault:
    seconds, amount = 0.0, 0.0
    match kind:
        case Kind.FREEZE if target.startswith("pilot/"):
            # Alone, it is a process that hangs while its jobs end; with its children, a machine
            # that slept.
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
            # Beyond the leases of what its pilots have, and what may be on its way.
            seconds = random.uniform(5.0 * lease, 6.0 * lease)
        case Kind.PROVIDER:
            seconds = random.uniform(4.0, 12.0)
        case Kind.CLOCK:
            seconds, amount = random.uniform(8.0, 20.0), random.choice(_JUMPS)
        case Kind.DUPLICATE:
            seconds, amount = 0.0, float(random.randint(1, 3))
    return Fault(number, kind, target, round(at, 2), round(seconds, 2), amount)
