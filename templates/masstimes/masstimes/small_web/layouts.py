"""Ways in which parishes write their mass schedules.

A third of them are reserved for measurements, so that the quality is measured on layouts that
no model has learned from.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from masstimes.small_web.marks import mark_sunday, mark_weekday
from masstimes.small_web.parishes import Schedule

_DAYS = ("Poniedziałek", "Wtorek", "Środa", "Czwartek", "Piątek", "Sobota")


@dataclass(frozen=True, slots=True)
class Hand:
    """The writer of a page, with its masses and its style of hours."""

    random: Random
    schedule: Schedule
    style: str

    def hour(self, time: str) -> str:
        """Return an hour in the style. ``time`` is as ``07:00``."""
        hour, minutes = time.split(":")
        match self.style:
            case "short" if minutes == "00":
                return str(int(hour))
            case "letters" if minutes == "00":
                return f"{int(hour)}.oo"
            case "long":
                return time
            case "points":
                return f"{int(hour)}.{minutes}"
            case _:
                return f"{int(hour)}:{minutes}"

    @property
    def sundays(self) -> list[str]:
        """Return the marked hours of Sundays."""
        return [mark_sunday(self.hour(time)) for time in self.schedule.sundays]

    @property
    def weekdays(self) -> list[str]:
        """Return the marked hours of weekdays."""
        return [mark_weekday(self.hour(time)) for time in self.schedule.weekdays]

    def one_of(self, *texts: str) -> str:
        """Return a random text."""
        return self.random.choice(texts)


STYLES = ("colon", "colon", "long", "points", "points", "letters", "short")


def _list(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def _and(items: list[str]) -> str:
    """Return hours as a list in a sentence."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} i {items[-1]}"


def _headings(hand: Hand) -> str:
    main = hand.one_of("Porządek Mszy Świętych", "Porządek Mszy Św.", "Msze Święte")
    first = hand.one_of("Niedziela i święta", "Niedziele", "Niedziela")
    then = hand.one_of("Dni powszednie", "W tygodniu", "Od poniedziałku do soboty")
    return (
        f"<h2>{main}</h2><h3>{first}</h3>{_list(hand.sundays)}<h3>{then}</h3>{_list(hand.weekdays)}"
    )


def _lines(hand: Hand) -> str:
    main = hand.one_of("Msze święte", "Porządek mszy świętych", "MSZE ŚW.")
    return (
        f"<p><b>{main}</b></p><p>Niedziele i święta: {', '.join(hand.sundays)}</p>"
        f"<p>Dni powszednie: {', '.join(hand.weekdays)}</p>"
    )


def _table(hand: Hand) -> str:
    return (
        "<h1>Porządek mszy świętych</h1><table border=1>"
        f"<tr><td>Niedziela</td><td>{' '.join(hand.sundays)}</td></tr>"
        f"<tr><td>w tygodniu</td><td>{' '.join(hand.weekdays)}</td></tr></table>"
    )


def _prose(hand: Hand) -> str:
    start = hand.one_of("W niedziele i uroczystości", "W każdą niedzielę", "W dzień świąteczny")
    return (
        f"<h2>Kiedy się modlimy</h2><p>{start} Msze św. odprawiane są o godz. "
        f"{_and(hand.sundays)} w kościele parafialnym. Od poniedziałku do piątku "
        f"Mszę św. sprawujemy o godz. {_and(hand.weekdays)} przy ołtarzu głównym.</p>"
    )


def _days(hand: Hand) -> str:
    """Return a row for each day. All days but Sunday are equal."""
    rows = "".join(f"<tr><td>{day}</td><td>{', '.join(hand.weekdays)}</td></tr>\n" for day in _DAYS)
    return (
        "<h2>Msze w naszym kościele</h2><table>"
        f"{rows}<tr><td>Niedziela</td><td>{', '.join(hand.sundays)}</td></tr></table>"
    )


def _weekdays_first(hand: Hand) -> str:
    return (
        f"<h2>Msze święte</h2><p>Dni powszednie: {', '.join(hand.weekdays)}</p>"
        f"<p>Niedziele i święta: {', '.join(hand.sundays)}</p>"
    )


def _each_named(hand: Hand) -> str:
    items = [f"Msza św. niedzielna {hour}" for hour in hand.sundays]
    items += [f"Msza św. w dni robocze {hour}" for hour in hand.weekdays]
    return f"<h1>Nasze msze i modlitwy</h1>{_list(items)}"


def _box(hand: Hand) -> str:
    return (
        f"<div class='box'><b>MSZE</b><br>Nd. {' '.join(hand.sundays)}<br>"
        f"Pn - Sob. {' '.join(hand.weekdays)}<br></div>"
    )


def _terms(hand: Hand) -> str:
    return (
        "<h2>Eucharystia</h2><dl><dt>Niedziela</dt>"
        f"<dd>Msze św. {', '.join(hand.sundays)}</dd><dt>Dzień roboczy</dt>"
        f"<dd>Msze św. {', '.join(hand.weekdays)}</dd></dl>"
    )


def _old_headings(hand: Hand) -> str:
    return (
        "<center><font size=5>PORZĄDEK MSZY ŚWIĘTYCH</font></center>"
        f"<div>Niedziela i dni świąteczne:</div><div>{' , '.join(hand.sundays)}</div>"
        f"<div>Porządek zwykły:</div><div>{' , '.join(hand.weekdays)}</div>"
    )


def _told(hand: Hand) -> str:
    first, *others = hand.sundays
    more = "".join(
        f"<li>o godzinie {hour} Msza św. {hand.one_of('z kazaniem', 'z udziałem dzieci')}</li>"
        for hour in others
    )
    return (
        f"<p>Zapraszamy w niedzielę:</p><ul><li>o godzinie {first} Msza św. poranna</li>{more}"
        f"</ul><p>W zwykły dzień Msza św. jest o godzinie {_and(hand.weekdays)} .</p>"
    )


def _columns(hand: Hand) -> str:
    """Return a column for Sundays and one for weekdays."""
    left, right = hand.sundays, hand.weekdays
    right += [""] * (len(left) - len(right))
    rows = "".join(
        f"<tr><td>{a}</td><td>{b}</td></tr>\n" for a, b in zip(left, right, strict=False)
    )
    return (
        "<h2>Godziny Mszy św.</h2><table><tr><th>W niedzielę</th><th>W dni robocze</th></tr>\n"
        f"{rows}</table>"
    )


Layout = Callable[[Hand], str]

#: Layouts that the rules can read are there twice.
SEEN_LAYOUTS: tuple[Layout, ...] = (
    *(_headings, _lines, _table) * 2,
    _prose,
    _days,
    _weekdays_first,
    _each_named,
    _box,
)
UNSEEN_LAYOUTS: tuple[Layout, ...] = (_old_headings, _old_headings, _terms, _told, _columns)
