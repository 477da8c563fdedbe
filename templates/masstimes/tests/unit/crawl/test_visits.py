"""Order and limits of the visits to a site."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import pytest
from masstimes.crawl.addresses import is_within
from masstimes.crawl.limits import Ending, Limits
from masstimes.crawl.visits import Answer, Outcome, Visit, Visits

START = "http://p.pl/"
LIMITS = Limits(depth=2, pages=20, queries=5, failures=3, site=1000)


def make_page(*paths: str, size: int = 1) -> Answer:
    links = tuple((f"http://p.pl/{path}", path) for path in paths)
    return Answer(Outcome.PAGE, bytes=size, links=links)


def redirect(there: str) -> Answer:
    return Answer(Outcome.REDIRECT, links=((there, ""),))


def make_error(reason: str) -> Answer:
    return Answer(Outcome.ERROR, reason)


def walk(answer: Callable[[Visit], Answer], limits: Limits = LIMITS) -> tuple[list[Visit], Visits]:
    """Return all visits of a site with these answers."""
    visits, visited_pages = Visits(START, partial(is_within, domain="p.pl"), limits), []
    while visits.ending() is None:
        visit = visits.next()
        assert visit is not None
        visited_pages.append(visit)
        visits.apply_answer(answer(visit))
    return visited_pages, visits


def walk_site(answers: dict[str, Answer]) -> tuple[list[str], Visits]:
    """Return the visited paths; paths without an answer are not found."""
    visited_pages, visits = walk(
        lambda visit: answers.get(visit.url.removeprefix(START), make_error("404"))
    )
    return [visit.url.removeprefix(START) for visit in visited_pages], visits


def test_pages_are_visited_breadth_first_to_the_depth_limit() -> None:
    tree = {
        "": make_page("a", "b"),
        "a": make_page("c"),
        "b": make_page("a", ""),
        "c": make_page("d"),
        "d": make_page(),
    }
    paths, visits = walk_site(tree)
    assert paths == ["", "a", "b", "c"]
    assert visits.ending() is Ending.DONE


def test_visit_records_the_link_that_led_to_it() -> None:
    visited_pages, _ = walk(lambda visit: make_page("a") if visit.depth == 0 else make_page())
    assert visited_pages[1] == Visit(f"{START}a", 1, START, "a")


def test_endless_calendar_is_limited() -> None:
    def calendar(visit: Visit) -> Answer:
        day = int(visit.url.rpartition("=")[2] or 0) if "=" in visit.url else 0
        return make_page(*(f"kalendarz?d={day * 40 + more}" for more in range(1, 40)))

    visited_pages, visits = walk(calendar)
    assert len(visited_pages) == 1 + LIMITS.queries
    assert visits.ending() is Ending.DONE


def test_number_of_pages_is_limited() -> None:
    visited_pages, visits = walk(
        lambda visit: make_page(*(f"{visit.depth}-{n}" for n in range(30)))
    )
    assert (len(visited_pages), visits.ending()) == (LIMITS.pages, Ending.PAGES)


def test_number_of_bytes_is_limited() -> None:
    visited_pages, visits = walk(lambda _: make_page("a", "b", "c", "d", size=400))
    assert (len(visited_pages), visits.ending()) == (3, Ending.BYTES)


def test_site_with_repeated_failures_is_left() -> None:
    paths, visits = walk_site({"": make_page("a", "b", "c", "d"), "b": make_page()})
    assert (paths, visits.ending()) == (["", "a", "b", "c", "d"], Ending.DONE)
    paths, visits = walk_site({"": make_page("a", "b", "c", "d")})
    assert (paths, visits.ending()) == (["", "a", "b", "c"], Ending.FAILURES)
    assert visits.tally.errors == {"404": 3}


def test_redirects_are_followed_at_once_and_not_in_circles() -> None:
    answers = {
        "": make_page("a", "b"),
        "a": redirect(f"{START}x"),
        "x": redirect(f"{START}a"),
        "b": make_page(),
    }
    paths, visits = walk_site(answers)
    assert (paths, visits.ending()) == (["", "a", "x", "b"], Ending.DONE)


def test_target_of_a_redirect_keeps_the_link_that_led_to_it() -> None:
    visited_pages, _ = walk(
        lambda visit: {"/": make_page("a"), "a": redirect(f"{START}x")}.get(
            visit.url[-1], make_page()
        )
    )
    assert visited_pages[2] == Visit(f"{START}x", 1, START, "a", 1)


def test_site_may_redirect_to_the_same_address_a_few_times() -> None:
    paths, visits = walk_site({"": redirect(START)})
    assert len(paths) == LIMITS.redirects + 1
    assert visits.ending() is Ending.UNREACHABLE


@pytest.mark.parametrize(
    ("answers", "ending"),
    [
        ({"": redirect("http://elsewhere.pl/")}, Ending.ELSEWHERE),
        ({"": Answer(Outcome.ROBOTS)}, Ending.ROBOTS),
        ({"": make_error("timeout")}, Ending.UNREACHABLE),
        ({"": redirect("http://www.p.pl/")}, Ending.UNREACHABLE),
        ({"": Answer(Outcome.BINARY)}, Ending.DONE),
        (
            {"": Answer(Outcome.UNCHANGED, links=((f"{START}a", ""),)), "a": make_page()},
            Ending.DONE,
        ),
    ],
)
def test_ended_visit_names_its_reason(answers: dict[str, Answer], ending: Ending) -> None:
    assert walk_site(answers)[1].ending() is ending


def test_links_to_other_sites_and_files_are_skipped() -> None:
    links = ("http://elsewhere.pl/", f"{START}a.pdf", f"{START}x/x/x/x/", f"{START}b?x=1&y=2")
    again = (f"{START}b?y=2&x=1", "http://m.p.pl/")
    answer = replace(make_page(), links=tuple((link, "") for link in (*links, *again)))
    visited_pages, _ = walk(lambda visit: answer if visit.depth == 0 else make_page())
    assert list_urls(visited_pages) == [START, f"{START}b?x=1&y=2", "http://m.p.pl/"]


def list_urls(visited_pages: Iterable[Visit]) -> list[str]:
    return [visit.url for visit in visited_pages]
