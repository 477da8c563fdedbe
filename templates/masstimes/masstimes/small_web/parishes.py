"""Simulated parishes and their mass schedules."""

from dataclasses import dataclass
from random import Random

from masstimes.small_web import names

#: Each site has its own loopback address. Unlike names below ``localhost``, these addresses need
#: neither a resolver nor permissions.
_SITE = "127.1"
_DIOCESE = "127.2.0"
#: The address of the places API and of changes of the web.
SERVICE = "127.0.0.1"

_SUNDAY = ("07:00", "07:30", "08:00", "08:30", "09:00", "10:00", "10:30", "11:00", "12:00")
_SUNDAY_EVENING = ("16:00", "17:00", "18:00", "19:00", "20:00")
_MORNING = ("06:30", "07:00", "07:30", "08:00")
_EVENING = ("17:00", "17:30", "18:00", "18:30", "19:00")


@dataclass(frozen=True, slots=True)
class Parish:
    """A parish as its diocese lists it."""

    number: int
    name: str
    place: str
    address: str
    deanery: str
    diocese: str
    voivodeship: str

    @property
    def id(self) -> str:
        """Return the id of the parish."""
        return f"parish-{self.number:04}"

    @property
    def host(self) -> str:
        """Return the address of its site."""
        return f"{_SITE}.{self.number // 250}.{self.number % 250 + 1}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """Mass times as ``07:00``, each once and sorted."""

    sundays: tuple[str, ...]
    weekdays: tuple[str, ...]


def draw_parishes(number: int, seed: int) -> list[Parish]:
    """Return parishes that are equal for the same seed.

    No two parishes share both name and place.
    """
    random = Random(f"parishes {seed}")
    parishes: list[Parish] = []
    used_names: set[tuple[str, str]] = set()
    while len(parishes) < number:
        name, place = f"Parafia pw. {random.choice(names.PATRONS)}", random.choice(names.PLACES)
        if (name, place) in used_names:
            continue
        used_names.add((name, place))
        diocese, voivodeship, seats = random.choice(names.DIOCESES)
        street = f"ul. {random.choice(names.STREETS)} {random.randint(1, 98)}"
        code = f"{random.randint(10, 89)}-{random.randint(100, 999)}"
        parishes.append(
            Parish(
                number=len(parishes),
                name=name,
                place=place,
                address=f"{street}, {code} {place}",
                deanery=f"dekanat {random.choice(seats)}",
                diocese=diocese,
                voivodeship=voivodeship,
            )
        )
    return parishes


def diocese_host(diocese: str) -> str:
    """Return the address of the site of a diocese."""
    dioceses = [name for name, *_ in names.DIOCESES]
    return f"{_DIOCESE}.{dioceses.index(diocese) + 1}"


def draw_schedule(random: Random) -> Schedule:
    """Return a random mass schedule."""
    sundays = random.sample(_SUNDAY, random.randint(2, 4))
    sundays += random.sample(_SUNDAY_EVENING, random.randint(0, 1))
    weekdays = [random.choice(_EVENING)]
    if random.random() < 0.7:
        weekdays.append(random.choice(_MORNING))
    return Schedule(tuple(sorted(sundays)), tuple(sorted(weekdays)))
