"""What the classifier sees of a context."""

from itertools import product

import pytest
from masstimes.classifier.features import BREAK, MARK, TIME, pairs, surroundings, tokens, words


def seen(context: str, hour: str) -> list[str]:
    start = context.index(hour)
    return words(surroundings(context, start, start + len(hour)), hour)


def test_digits_times_and_polish_letters_are_alike() -> None:
    assert tokens("Święta Łódź: 7:00, 18.oo i 62-800\n\n tel. 123") == [
        *("swieta", "lodz", ":", TIME, ",", TIME, "i", "00-000", BREAK, "tel", ".", "000"),
    ]


def test_the_hour_itself_is_a_mark_and_its_way_of_writing() -> None:
    found = seen("Msze 7:00 i 18:30", "18:30")
    assert found.count(MARK) == 1
    assert found.count(TIME) == 1
    assert {"#00:00", "#h18", "#m30"} <= set(found)


def test_the_side_and_the_distance_of_a_word_count() -> None:
    first, second = seen("msze 9:00 biuro", "9:00"), seen("biuro 9:00 msze", "9:00")
    assert {"<1msze", ">1biuro", "<msze", ">biuro"} <= set(first)
    assert set(first) & set(second) == {"msze", "biuro", MARK, "#0:00", "#h09", "#m00"}


def test_two_hours_of_a_context_look_different() -> None:
    context = "Msze o 7:00 w kaplicy\nKancelaria o 16:00"
    masses, office = seen(context, "7:00"), seen(context, "16:00")
    assert "~kance" in masses
    assert "kancelaria" not in masses
    assert "kancelaria" in office
    assert "^kance" not in office


@pytest.mark.parametrize("lines", ["7:00\n9:00\n", "8:00, 7:00\n"])
def test_an_hour_without_words_belongs_to_the_heading(lines: str) -> None:
    found = seen(f"Biuro 10:00\nNiedziela\n{lines}Kancelaria", "7:00")
    assert {"niedziela", "^niedz", "<niedz"} <= set(found)
    assert "~kance" in found


def test_pairs_are_of_the_line_and_always_the_same() -> None:
    around = surroundings("Msze 7:00 rano\nBiuro", 5, 9)
    found = pairs(around, buckets=1 << 15)
    assert found == [14891, 1545]
    assert all(pair < 2 for pair in pairs(around, buckets=2))


def test_nothing_at_all_is_seen_of_nothing() -> None:
    for before, after in product(("", "\n", "\n\n7\n"), repeat=2):
        context = f"{before}8{after}"
        assert MARK in words(surroundings(context, len(before), len(before) + 1), "8")
