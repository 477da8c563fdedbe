"""Features of a context for the classifier."""

from itertools import product

import pytest
from masstimes.classifier.features import (
    BREAK,
    MARK,
    TIME,
    find_surroundings,
    hash_pairs,
    tokenize,
    word_features,
)


def list_features(context: str, hour: str) -> list[str]:
    start = context.index(hour)
    return word_features(find_surroundings(context, start, start + len(hour)), hour)


def test_tokens_normalize_digits_times_and_polish_letters() -> None:
    assert tokenize("Święta Łódź: 7:00, 18.oo i 62-800\n\n tel. 123") == [
        "swieta",
        "lodz",
        ":",
        TIME,
        ",",
        TIME,
        "i",
        "00-000",
        BREAK,
        "tel",
        ".",
        "000",
    ]


def test_hour_becomes_a_mark_and_its_format() -> None:
    features = list_features("Msze 7:00 i 18:30", "18:30")
    assert features.count(MARK) == 1
    assert features.count(TIME) == 1
    assert {"#00:00", "#h18", "#m30"} <= set(features)


def test_side_and_distance_of_a_word_are_features() -> None:
    first, second = (
        list_features("msze 9:00 biuro", "9:00"),
        list_features("biuro 9:00 msze", "9:00"),
    )
    assert {"<1msze", ">1biuro", "<msze", ">biuro"} <= set(first)
    assert set(first) & set(second) == {"msze", "biuro", MARK, "#0:00", "#h09", "#m00"}


def test_two_hours_in_a_context_have_different_features() -> None:
    context = "Msze o 7:00 w kaplicy\nKancelaria o 16:00"
    masses, office = list_features(context, "7:00"), list_features(context, "16:00")
    assert "~kance" in masses
    assert "kancelaria" not in masses
    assert "kancelaria" in office
    assert "^kance" not in office


@pytest.mark.parametrize("lines", ["7:00\n9:00\n", "8:00, 7:00\n"])
def test_hour_without_words_belongs_to_the_heading(lines: str) -> None:
    features = list_features(f"Biuro 10:00\nNiedziela\n{lines}Kancelaria", "7:00")
    assert {"niedziela", "^niedz", "<niedz"} <= set(features)
    assert "~kance" in features


def test_word_pairs_come_from_the_line_and_are_stable() -> None:
    around = find_surroundings("Msze 7:00 rano\nBiuro", 5, 9)
    hashes = hash_pairs(around, buckets=1 << 15)
    assert hashes == [14891, 1545]
    assert all(pair < 2 for pair in hash_pairs(around, buckets=2))


def test_empty_surroundings_have_only_the_mark() -> None:
    for before, after in product(("", "\n", "\n\n7\n"), repeat=2):
        context = f"{before}8{after}"
        assert MARK in word_features(find_surroundings(context, len(before), len(before) + 1), "8")
