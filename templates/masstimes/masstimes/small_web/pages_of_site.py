"""The pages of one site: their content and form, and the masses on them."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from masstimes.small_web import prose
from masstimes.small_web.layouts import STYLES, Hand, Layout
from masstimes.small_web.marks import Mass, find_masses, remove_marks
from masstimes.small_web.parishes import Parish, Schedule, draw_schedule
from masstimes.small_web.traps import Dead, Trap, entry_path

#: The encoding, and the ones that the header and the page declare.
_ENCODINGS = (
    *(("utf-8", "utf-8", "utf-8"),) * 4,
    ("utf-8", None, "utf-8"),
    ("utf-8", "iso-8859-2", None),  # wrong header
    ("iso-8859-2", "iso-8859-2", None),
    ("iso-8859-2", "utf-8", "iso-8859-2"),  # wrong header
    ("windows-1250", None, "windows-1250"),
    ("windows-1250", "utf-8", "windows-1250"),  # wrong header
)
#: The page with the masses, and the text of the link to it.
_PLACES = (
    ("/msze.html", "Msze święte"),
    ("/porzadek-mszy", "Porządek mszy św."),
    ("/index.php?id=3", "Msze święte"),
    ("/nabozenstwa.html", "Nabożeństwa"),
    ("/parafia/godziny-mszy.html", "Godziny mszy"),
)


@dataclass(frozen=True, slots=True)
class SmallPage:
    """A page.

    ``validator`` is what the server sends for conditional requests: ``etag``, ``modified`` or
    nothing. ``masses`` is the truth. ``latency`` is the time before the answer in seconds.
    """

    body: bytes
    content_type: str
    validator: str = ""
    latency: float = 0.0
    fails_first: bool = False
    masses: tuple[Mass, ...] = ()

    @property
    def etag(self) -> str:
        """Return the ETag of the body."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


@dataclass(frozen=True, slots=True)
class Site:
    """A site. ``layout`` is the way of writing masses. ``pages`` are by path and query."""

    parish: Parish
    schedule: Schedule
    layout: str
    trap: Trap | None
    dead: Dead | None
    pages: dict[str, SmallPage] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Look:
    """The common look of all pages of a site."""

    skin: int
    encoding: tuple[str, str | None, str | None]
    links: tuple[tuple[str, str], ...]
    footer: str


def make_site(
    parish: Parish, layout: Layout, *, seed: int, trap: Trap | None, dead: Dead | None
) -> Site:
    """Return a site that is equal for the same seed."""
    random = Random(f"site {seed} {parish.number}")
    return _draw_site(parish, random, draw_schedule(random), layout=layout, defects=(trap, dead))


def make_changed_site(site: Site, layout: Layout, *, seed: int, change: int) -> Site:
    """Return the site with other mass times and everything else equal."""
    random = Random(f"site {seed} {site.parish.number}")
    draw_schedule(random)
    new_random = Random(f"change {seed} {site.parish.number} {change}")
    while (schedule := draw_schedule(new_random)) == site.schedule:
        pass
    return _draw_site(site.parish, random, schedule, layout=layout, defects=(site.trap, site.dead))


def _draw_site(
    parish: Parish,
    random: Random,
    schedule: Schedule,
    *,
    layout: Layout,
    defects: tuple[Trap | None, Dead | None],
) -> Site:
    hand = Hand(Random(random.random()), schedule, random.choice(STYLES))
    texts = dict(_draw_texts(random, parish, layout(hand), random.choice(_PLACES)))
    links = [(path, title) for path, (title, _) in texts.items() if path != "/"]
    trap, dead = defects
    if trap is not None:
        links.append((entry_path(trap), "Więcej"))
    look = _Look(
        skin=random.randrange(5),
        encoding=random.choice(_ENCODINGS),
        links=tuple(links),
        footer=prose.small_print(random),
    )
    pages = {
        path: _draw_page(random, look, parish, title=title, content=html)
        for path, (title, html) in texts.items()
    }
    if look.skin == 4:
        pages["/menu.html"] = _make_page(look, _menu(look))
        pages["/start.html"] = pages["/"]
        pages["/"] = _make_page(look, _frames(parish))
    return Site(parish, schedule, layout.__name__.strip("_"), trap, dead, pages)


def _draw_texts(
    random: Random, parish: Parish, order: str, place: tuple[str, str]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the path of each page with its title and content, with marks."""
    path, title = place
    yield "/", ("Strona główna", f"<h1>{parish.name}</h1><p>{prose.sentences(random, 4)}</p>")
    more = "".join(prose.other_services(random) for _ in range(random.randint(0, 2)))
    more += prose.office(random) if random.random() < 0.5 else ""
    yield path, (title, f"{order}{more}{prose.small_print(random)}")
    yield "/kontakt.html", ("Kontakt", prose.contact(random, parish))
    yield "/historia.html", ("Historia parafii", prose.history(random, parish))
    yield "/intencje.html", ("Intencje", prose.intentions(random))
    if random.random() < 0.4:
        services = "".join(prose.other_services(random) for _ in range(4))
        yield "/nabozenstwa-2018.html", ("Nabożeństwa 2018", f"<h2>W ciągu roku</h2>{services}")
    for number in range(random.randint(1, 5)):
        content = "".join(prose.news(random, parish) for _ in range(random.randint(2, 5)))
        yield f"/aktualnosci-{number}.html", (f"Aktualności {number}", content)
    for number in range(random.randint(0, 4)):
        yield f"/grupy/{number}.html", (f"Grupa {number}", f"<p>{prose.sentences(random, 6)}</p>")


def _draw_page(
    random: Random, look: _Look, parish: Parish, *, title: str, content: str
) -> SmallPage:
    menu, main = _menu(look), f"{content}<hr>{look.footer}"
    match look.skin:
        case 0:
            body = f"<div id=menu>{menu}</div><div id=content>{main}</div>"
        case 1:
            body = f"<table width=100%><tr><td>{menu}</td><td>{main}</td></tr></table>"
        case 2:
            body = f"<header><h1>{parish.place}</h1></header><main>{main}</main><nav>{menu}</nav>"
        case 3:
            body = f"<font face=Arial>{main}</font><center>{menu}</center>"
        case _:
            body = main
    marked_html = _document(look, title, body)
    return _make_page(
        look,
        marked_html,
        validator=random.choice(("etag", "modified", "")),
        latency=random.choice((0.0, 0.0, 0.0, 0.02, 0.1)),
        fails_first=random.random() < 0.03,
    )


def _menu(look: _Look) -> str:
    target = " target=tresc" if look.skin == 4 else ""
    items = [f"<a href='{path}'{target}>{title}</a>" for path, title in look.links]
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def _frames(parish: Parish) -> str:
    return (
        f"<html><head><title>{parish.place}</title></head><frameset cols='20%,80%'>"
        "<frame src='menu.html' name=menu><frame src='start.html' name=tresc></frameset></html>"
    )


def _document(look: _Look, title: str, body: str) -> str:
    charset = look.encoding[2]
    meta = (
        f"<meta http-equiv=Content-Type content='text/html; charset={charset}'>" if charset else ""
    )
    return f"<html><head>{meta}<title>{title}</title></head><body>{body}</body></html>"


def _make_page(
    look: _Look,
    marked_html: str,
    *,
    validator: str = "",
    latency: float = 0.0,
    fails_first: bool = False,
) -> SmallPage:
    encoding, header, _ = look.encoding
    return SmallPage(
        body=remove_marks(marked_html).encode(encoding, "xmlcharrefreplace"),
        content_type=f"text/html; charset={header}" if header else "text/html",
        validator=validator,
        latency=latency,
        fails_first=fails_first,
        masses=tuple(find_masses(marked_html)),
    )
