"""The simulated web of the demonstration: its truth, layouts and traps."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from masstimes.hours import find_candidates
from masstimes.page_filter import is_mass_page
from masstimes.rules import find_order
from masstimes.small_web import layouts
from masstimes.small_web.dioceses import diocese_pages
from masstimes.small_web.pages_of_site import Site, SmallPage
from masstimes.small_web.places import KEY, Places
from masstimes.small_web.traps import Dead, Trap
from masstimes.small_web.web import DEMO_SEED, SmallWeb, parish_files
from masstimes.text import page_text

PORT = 8000


def read_texts(site: Site) -> dict[str, tuple[SmallPage, str]]:
    """Return pages and texts, decoded with the right encoding."""
    read = {}
    for path, page in site.pages.items():
        for encoding in ("utf-8", "windows-1250", "iso-8859-2"):
            try:
                html = page.body.decode(encoding)
            except UnicodeDecodeError:
                continue
            if encoding != "windows-1250" or "1250" in html or "8859" not in html:
                read[path] = page, page_text(html)
                break
    return read


def list_living_sites(web: SmallWeb) -> list[Site]:
    return [site for site in web.sites.values() if site.dead is None]


def test_masses_are_on_the_pages_where_the_truth_says() -> None:
    for site in list_living_sites(SmallWeb(60, 5)):
        mass_times = set()
        for page, text in read_texts(site).values():
            candidates = list(find_candidates(text))
            for mass in page.masses:
                assert text[mass.start : mass.start + len(mass.hour)] == mass.hour
                assert mass.candidate is not None
                assert candidates[mass.candidate].clock == mass.time
                mass_times.add((mass.day, mass.time))
        days = ("sunday", site.schedule.sundays), ("weekday", site.schedule.weekdays)
        assert mass_times == {(day, time) for day, times in days for time in times}


@pytest.mark.parametrize("seed", [DEMO_SEED, 2, 3, 31, 32])
def test_rules_alone_find_nine_of_ten_masses_with_few_errors(seed: int) -> None:
    there = found_count = error_count = 0
    for site in list_living_sites(SmallWeb(60, seed)):
        there += len(site.schedule.sundays) + len(site.schedule.weekdays)
        for page, text in read_texts(site).values():
            if page.masses and (order := find_order(text)):
                for predicted, true in (
                    ({*order.sundays}, {*site.schedule.sundays}),
                    ({*order.weekdays}, {*site.schedule.weekdays}),
                ):
                    found_count += len(predicted & true)
                    error_count += len(predicted - true)
    assert found_count >= 0.9 * there
    assert found_count >= 0.95 * (found_count + error_count)


def test_masses_are_neither_rare_nor_dominant_among_candidates() -> None:
    masses = others = 0
    for site in list_living_sites(SmallWeb(60, DEMO_SEED)):
        for path, (page, text) in read_texts(site).items():
            if page.masses or is_mass_page(f"http://p.pl{path}", ""):
                masses += len(page.masses)
                others += len(list(find_candidates(text))) - len(page.masses)
    assert masses / 2 < others < masses * 3


def test_training_seed_lacks_a_third_of_the_layouts() -> None:
    assert {
        site.layout for site in list_living_sites(SmallWeb(300, DEMO_SEED))
    } == list_layout_names(layouts.SEEN_LAYOUTS)
    everything = list_layout_names(layouts.SEEN_LAYOUTS) | list_layout_names(layouts.UNSEEN_LAYOUTS)
    assert {site.layout for site in list_living_sites(SmallWeb(300, 2))} == everything
    assert len(list_layout_names(layouts.UNSEEN_LAYOUTS)) * 3 == len(everything)


def test_layouts_are_distributed_evenly() -> None:
    pack = layouts.SEEN_LAYOUTS + layouts.UNSEEN_LAYOUTS
    sites = SmallWeb(2 * len(pack), 2).sites.values()
    shares = Counter(layout.__name__.strip("_") for layout in pack * 2)
    assert Counter(site.layout for site in sites) == shares


def list_layout_names(kind: tuple[layouts.Layout, ...]) -> set[str]:
    return {layout.__name__.strip("_") for layout in kind}


def test_equal_seeds_make_equal_webs() -> None:
    first, again, other = SmallWeb(20, 3), SmallWeb(20, 3), SmallWeb(20, 4)
    assert first.truth(PORT) == again.truth(PORT) != other.truth(PORT)
    assert first.sites == again.sites


def test_changed_site_has_other_times_and_no_other_changes() -> None:
    web = SmallWeb(60, 3)
    before = dict(web.sites)
    changed = {parish.host for parish in web.change(10)}
    assert len(changed) == 10
    for host, site in web.sites.items():
        if host not in changed:
            assert site is before[host]
            continue
        assert site.schedule != before[host].schedule
        others = {path for path, page in site.pages.items() if page != before[host].pages[path]}
        assert others == {path for path, page in site.pages.items() if page.masses}


def test_web_has_all_traps_and_dead_sites() -> None:
    sites = SmallWeb(60, 2).sites.values()
    assert {site.trap for site in sites} == {None, *Trap}
    assert {site.dead for site in sites} == {None, *Dead}
    tame = SmallWeb(60, 2, traps=False).sites.values()
    assert {(site.trap, site.dead) for site in tame} == {(None, None)}


def test_parish_files_do_not_reveal_the_truth() -> None:
    files = parish_files(SmallWeb(3, 2).parishes, PORT)
    assert sorted(files) == ["parish-0000.json", "parish-0001.json", "parish-0002.json"]
    assert {key for content in files.values() for key in content} == {"id", "name", "site"}
    assert files["parish-0002.json"]["site"] == "http://127.1.0.3:8000/"


def test_dioceses_list_all_parishes_over_several_pages() -> None:
    web = SmallWeb(150, 2)
    pages = [
        page.decode() for part in diocese_pages(web.parishes).values() for page in part.values()
    ]
    assert sum(page.count("<tr><td>") for page in pages) == 150
    assert len(pages) > sum("Następna" not in page for page in pages) == 5


@pytest.fixture
def places() -> Callable[..., Places]:
    web = SmallWeb(300, 2)

    def places(**options: Any) -> Places:
        return Places(web.parishes, PORT, seed=2, **{"clock": time.time, **options})

    return places


def test_places_search_finds_nine_of_ten_sites(places: Callable[..., Places]) -> None:
    web, search = SmallWeb(300, 2), places(quota=10_000_000)
    right = 0
    for parish in web.parishes:
        short = f"{parish.name} {parish.place}"
        for query in (f"{short} {parish.address.split(',')[0]}", short):
            if matches := search.search(query, KEY)["results"]:
                site = search.details(matches[0]["place_id"], KEY)["result"].get("website")
                right += site == f"http://{parish.host}:{PORT}/"
                break
    assert 0.9 < right / 300 < 1


def test_daily_quota_counts_ten_for_a_search_and_one_for_details(
    places: Callable[..., Places],
) -> None:
    now = [0.0]
    search = places(quota=25, day=100, clock=lambda: now[0])
    answers = [search.search("x", KEY)["status"] for _ in range(3)]
    now[0] = 100.0
    answers.append(search.search("x", KEY)["status"])
    assert answers == ["ZERO_RESULTS", "ZERO_RESULTS", "OVER_QUERY_LIMIT", "ZERO_RESULTS"]
    assert search.search("x", "another")["status"] == "REQUEST_DENIED"
    statuses = [search.details("x", KEY)["status"] for _ in range(16)]
    assert statuses == ["NOT_FOUND"] * 15 + ["OVER_QUERY_LIMIT"]
