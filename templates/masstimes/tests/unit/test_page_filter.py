"""The filter that selects pages by address, link text and content."""

import pytest
from masstimes.page_filter import get_last_part, has_order, is_mass_page, is_news


@pytest.mark.parametrize(
    "text",
    [
        "msze", "Msze Święte", "msze-swiete.html", "nabożeństwa", "nabozenstwa", "NABOŻEŃSTW",
        "nabożeństw 7.00", "porządek", "porzadek.html", "porządek liturgii", "porzadek-mszy",
        "rozkład mszy", "rozklad_mszy.php", "plan mszy", "godziny mszy", "układ mszy",
        "harmonogram mszy", "grafik mszy", "rozpiska mszy",
    ],
)  # fmt: skip
def test_pages_about_masses_are_wanted(text: str) -> None:
    assert is_mass_page("http://p.pl/x/", text)
    assert is_mass_page(f"http://p.pl/msze/{text}", "")


@pytest.mark.parametrize(
    "text",
    [
        "", "kontakt", "nabożeństwa majowe", "nabozenstwa-czerwcowe", "Nabożeństwa wielkopostne",
        "nabożeństwa maryjne", "nabożeństwa pasyjne", "nabożeństwa pokutne",
        "nabożeństwa fatimskie", "nabożeństwa do Serca", "nabożeństwa różańcowe",
        "nabożeństwa czterdziestogodzinne", "nabożeństwa w wielkim poście", "porządek dnia",
        "plan pielgrzymki", "nabożeństwo",
    ],
)  # fmt: skip
def test_other_pages_are_not_wanted(text: str) -> None:
    assert not is_mass_page("http://p.pl/x/", text)
    assert not is_mass_page(f"http://p.pl/{text}", "")


def test_address_or_link_text_is_enough() -> None:
    assert is_mass_page("http://p.pl/msze.html", "nabożeństwa majowe")
    assert is_mass_page("http://p.pl/nabozenstwa-majowe", "Msze święte")


def test_encoded_address_is_decoded_for_the_filter() -> None:
    assert get_last_part("http://p.pl/a/porz%C4%85dek") == "porządek"
    assert is_mass_page("http://p.pl/a/porz%C4%85dek", "")
    assert not is_mass_page("http://msze.pl/kontakt", ""), (
        "only the last part of the address counts"
    )


def test_address_with_trailing_slash_has_a_last_part() -> None:
    assert get_last_part("http://p.pl/liturgia/msze-swiete/") == "msze-swiete"
    assert is_mass_page("http://p.pl/liturgia/msze-swiete/", "Liturgia w parafii")
    assert get_last_part("http://msze.pl/") == ""


def test_three_sunday_masses_are_an_order() -> None:
    page = "Msze w niedziele: 8:00, 10:00{} (kaplica)"
    assert has_order(page.format(", 12:00"), is_start=False)
    assert not has_order(page.format(""), is_start=False)


def test_page_with_masses_or_news_is_recognized_by_content_and_link() -> None:
    short, whole = "Msze św.\nNiedziela: 8.00\n", "Msze św.\nNiedziela: 8.00\nW tygodniu: 18.00\n"
    assert has_order(short, is_start=True)
    assert not has_order(short, is_start=False)
    assert has_order(whole, is_start=False)
    assert not has_order("Kancelaria\nśroda 8.00\n", is_start=True)
    assert is_news("http://p.pl/og%C5%82oszenia/12", "")
    assert is_news("http://p.pl/12", "Aktualności")
    assert not is_news("http://p.pl/o-parafii", "O parafii")
