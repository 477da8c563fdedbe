"""The whole small web: all its sites, and the truth about them."""

from collections.abc import Sequence
from itertools import chain
from random import Random
from typing import Any

from masstimes.small_web import layouts
from masstimes.small_web.layouts import Layout
from masstimes.small_web.pages_of_site import make_changed_site, make_site
from masstimes.small_web.parishes import Parish, draw_parishes
from masstimes.small_web.traps import Dead, Trap

#: The seed that demonstrations learn from. It has no layout of ``layouts.UNSEEN_LAYOUTS``.
DEMO_SEED = 1
LAYOUTS = {
    "seen": layouts.SEEN_LAYOUTS,
    "unseen": layouts.UNSEEN_LAYOUTS,
    "all": layouts.SEEN_LAYOUTS + layouts.UNSEEN_LAYOUTS,
}


class SmallWeb:
    """The small web.

    ``kind`` is a key of ``LAYOUTS``; by default, the seed decides. Without ``traps``, each site is
    alive and finite.
    """

    def __init__(self, sites: int, seed: int, *, kind: str = "", traps: bool = True) -> None:
        self.seed = seed
        self.kind = kind or ("seen" if seed == DEMO_SEED else "all")
        self._changes = 0
        self.parishes = draw_parishes(sites, seed)
        self._layouts = _assign_layouts(LAYOUTS[self.kind], sites, seed)
        self.sites = {
            parish.host: make_site(
                parish,
                layout,
                seed=seed,
                trap=_choose_trap(parish) if traps else None,
                dead=_choose_dead(parish) if traps else None,
            )
            for parish, layout in zip(self.parishes, self._layouts, strict=True)
        }

    def change(self, number: int) -> list[Parish]:
        """Change the mass times of ``number`` sites, and return their parishes."""
        self._changes += 1
        alive = [site for site in self.sites.values() if site.dead is None]
        random = Random(f"changes {self.seed} {self._changes}")
        chosen = random.sample(alive, min(number, len(alive)))
        for site in chosen:
            self.sites[site.parish.host] = make_changed_site(
                site,
                self._layouts[site.parish.number],
                seed=self.seed,
                change=self._changes,
            )
        return sorted((site.parish for site in chosen), key=lambda parish: parish.number)

    def truth(self, port: int) -> dict[str, Any]:
        """Return the truth by the parish's id, and by the page's address."""
        sites, pages = {}, {}
        for site in self.sites.values():
            base = f"http://{site.parish.host}:{port}"
            masses = {
                f"{base}{path}": [mass.as_dict() for mass in page.masses]
                for path, page in site.pages.items()
                if page.masses and site.dead is None
            }
            pages.update(masses)
            sites[site.parish.id] = {
                "site": f"{base}/",
                "domain": site.parish.host,
                "layout": site.layout,
                "trap": site.trap,
                "dead": site.dead,
                "pages": 0 if site.dead else len(site.pages),
                "sundays": [] if site.dead else site.schedule.sundays,
                "weekdays": [] if site.dead else site.schedule.weekdays,
                "where": sorted(masses),
            }
        return {"seed": self.seed, "layouts": self.kind, "sites": sites, "pages": pages}


def parish_files(parishes: Sequence[Parish], port: int) -> dict[str, dict[str, str]]:
    """Return the files for `mt-crawl` by name."""
    return {
        f"{parish.id}.json": {
            "id": parish.id,
            "name": f"{parish.name}, {parish.place}",
            "site": f"http://{parish.host}:{port}/",
        }
        for parish in parishes
    }


def _assign_layouts(layouts: Sequence[Layout], sites: int, seed: int) -> list[Layout]:
    """Return a layout for each site. Few sites also get different layouts."""
    random = Random(f"layouts {seed}")
    rounds = -(-sites // len(layouts))
    packs = (random.sample(layouts, len(layouts)) for _ in range(rounds))
    return list(chain.from_iterable(packs))[:sites]


def _choose_trap(parish: Parish) -> Trap | None:
    """Return the trap of a parish's site, or None.

    Every third site has one, with all kinds in turn. Dead sites have none.
    """
    kinds = list(Trap)
    if parish.number % 3 != 1 or _choose_dead(parish) is not None:
        return None
    return kinds[parish.number // 3 % len(kinds)]


def _choose_dead(parish: Parish) -> Dead | None:
    """Return the kind of a dead site, which is every twentieth, or None."""
    kinds = list(Dead)
    return kinds[parish.number // 20 % len(kinds)] if parish.number % 20 == 18 else None
