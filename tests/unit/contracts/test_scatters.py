"""Lists that steps scatter over, in words."""

from sluice.contracts.templates.scatters import unequal_lists, value_in_short


def test_long_list_is_shortened_and_shows_its_length() -> None:
    assert value_in_short(["é", 1.5, None]) == '["é", 1.5, null]'
    text = value_in_short(list(range(10_000)))
    assert text.startswith("[0, 1, 2, ")
    assert text.endswith("… (10000 values)")
    assert len(text) < 250
    assert len(value_in_short("x" * 1000)) == 1002, "a text must not be shortened"


def test_only_unequal_lengths_of_lists_and_data_sets_are_reported() -> None:
    assert unequal_lists("s", {"a": 2, "b": 2}, files={"c": 2}) == ""
    assert unequal_lists("s", {}) == ""
    assert "1 file at 'c' and 2 values at 'a'" in unequal_lists("s", {"a": 2}, files={"c": 1})
