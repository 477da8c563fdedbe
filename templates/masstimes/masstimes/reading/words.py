"""Polish words for the purpose of an hour. All patterns are for text without diacritics."""

import re
from enum import StrEnum

from masstimes.folding import fold


class Topic(StrEnum):
    """The purpose of an hour."""

    MASS = "mass"
    DEVOTION = "devotion"  # or a meeting
    ONCE = "once"  # a single date, with or without a mass
    OFFICE = "office"  # or something else over many lines

    @property
    def is_mass(self) -> bool:
        """Return whether this is a mass."""
        return self is Topic.MASS


_MASS = (
    r"(?:porzadek|rozklad|plan|uklad|godziny)\s+(?:msz\w*|nabozenstw|liturgi\w*|celebracji)"
    r"|porzadek\s+(?:niedzieln\w+|swiateczn\w+|zwykl\w+|powszedni\w*)|\bmsz[aeyu](?:ch)?\b"
    r"|eucharysti\w+|\bsum[aey]\b(?!\s+odpust)|nabozenstwa\s+niedzieln\w+"
)
_OFFICE = (
    r"kancelari\w*|\bbiur[oa]\b|urzedowani\w*|dyzur\w*|spowie\w+|spowiad\w*|pokut\w*|pojednani\w*|konfesjonal\w*|poradni\w*"
    r"|caritas|bibliotek\w*|sklepik\w*|muzeum|zwiedza\w*|otwart[aeyi]\w*|\bczynn[aey]\b|ksiegarni\w*"
    r"|sekretariat\w*|redakcj\w*|telefon\w*|\btel\b|kontakt\w*|\bkonto\b|kawiarenk\w*|zakrysti\w*"
)
_DEVOTION = (
    r"rozan\w+|nabozenst\w+|adoracj\w+|wystawieni\w+|nieszpor\w*|godzink\w+|gorzki\w*\s+zal\w*"
    r"|drog\w+\s+krzyzow\w+|koronk\w+|nowenn\w+|\bapel\w*|litani\w+|rorat\w*|jutrzni\w*|laudes|odsloniec\w+|zasloniec\w+|aniol\w*\s+pansk\w+"
    r"|modlitw\w+|czuwani\w+|procesj\w+|majow[eaey]\w*|czerwcow[ea]\w*|godzin[aey]\s+(?:swiet|milos)\w*"
    r"|chor\b|choru\b|prob[aey]\b|spotkani\w+|zebrani\w+|schol\w+|ministra\w+|lektor\w*|oaz\w+"
    r"|katechez\w*|kurs\w*|\bkrag\w*|odnow\w+|chrzest\w*|chrzt\w*|slub\w*"
    r"|rejestracj\w+"
    r"|zabaw\w+|aktualizacj\w+|poswieceni\w+|blogoslawienstw\w+|rozgrywk\w+|zbiork\w+|festiwal\w*|wieczor\w*\s+uwielb\w+|\brad[ay]\b"
    r"|\bnauk\w+|warsztat\w*|seans\w*|wyklad\w*|prelekcj\w+"
)
_ONCE = (
    r"boze\s+cialo|wszystkich\s+swietych(?=\W+msz)|pogrzeb\w*|pielgrzym\w+|wyjazd\w*|odjazd\w*"
    r"|autobus\w*|koncert\w*|festyn\w*|dozynk\w+|odpust\w*|pasterk\w+|wigili\w+|rekolekcj\w+"
    r"|bierzmowani\w+|\bi\s+komuni\w+|rezurekcj\w+|triduum|popiel\w+|dzisiaj|\bdzis\b|jutro"
    r"|najblizsz\w+|\bw\s+tym\s+tygodniu|wielk\w+\s+(?:czwart|piat|sobot)\w+|nowy\s+rok|prymicj\w+"
)
_MONTH = (
    r"(?:stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|wrzesnia|pazdziernika"
    r"|listopada|grudnia)"
)
_DAY_OF_MONTH = rf"(?:[12]?\d|3[01])\.?\s?{_MONTH}"
#: A span such as `1 maja - 30 wrzesnia`.
_DATES = rf"\b{_DAY_OF_MONTH}\s*(?:\bdo\b|[-–—])\s*{_DAY_OF_MONTH}"
#: A single date, but not a span such as `od 1 maja do 30 wrzesnia`.
_DATE = (
    rf"(?<!\bod )(?<!\bdo )\b{_DAY_OF_MONTH}\b(?!\s+do\b)"
    r"|\b(?:[12]?\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?:\d{4}|\d\d)\b"
)
_TOPIC = re.compile(
    rf"{_DATES}|(?P<mass>{_MASS})|(?P<office>{_OFFICE})|(?P<once>{_ONCE}|{_DATE})|(?P<devotion>{_DEVOTION})"
)
#: Headings of single events.
_NEWS = re.compile(r"ogloszeni|aktualnosci|wydarzeni|intencj")
#: Words that put an hour before, after or during a mass, so that it is not the mass's.
_BESIDE = re.compile(
    r"(?:\bprzed|\bpo|podczas|w\s+czasie|w\s+trakcie|miedzy|\bpoza|\bbez|intencj\w*|ofiar\w*|\bdo)"
    r"\s+(?:\w+\s+){0,2}$"
)
#: The mass at which something is, as in "chrzty na Mszy o 11:30".
_AT_MASS = re.compile(r"\bna\s+$")
#: Text after such a mass and before the hour of something else: "przed Mszą, o 18:30".
_ASIDE = re.compile(r"(?:\s+sw\w*\.?)?\s*(?:,|[-–—])\s*(?:o\s|od\s|godz|\d)")


def fold_in_place(text: str) -> str:
    """Return a text with each character folded separately, which keeps positions."""
    return "".join(map(_folded_character, text))


def _folded_character(character: str) -> str:
    if character.isascii():
        return character.lower()
    return (fold(character) or character)[0]


def names_news(text: str) -> bool:
    """Return whether a folded heading announces single events."""
    return _NEWS.search(text) is not None


def find_topics(text: str) -> list[tuple[int, Topic]]:
    """Return the positions and topics in a folded text, in their order."""
    result: list[tuple[int, Topic]] = []
    for match in _TOPIC.finditer(text):
        if match.lastgroup is None:
            continue
        topic = Topic(match.lastgroup)
        before = text[max(0, match.start() - 60) : match.start()]
        is_at_mass = match[0] in {"mszy", "mszach"} and _AT_MASS.search(before) is not None
        if topic.is_mass and (is_at_mass or _BESIDE.search(before)):
            if _ASIDE.match(text, match.end()):
                result.append((match.start(), Topic.DEVOTION))
            continue
        result.append((match.start(), topic))
    return result
