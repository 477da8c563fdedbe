"""Text and links of pages, whatever their headers say."""

import codecs

import pytest
from masstimes.crawl.decoding import decode_page
from masstimes.crawl.links import find_links

TEXT = "Porządek Mszy Świętych: źródło, żółć, ćma, ŁĄKA, ŚĆIEŻKA, Źle " * 3
META = '<meta http-equiv="Content-Type" content="text/html; charset={}">'


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-2", "windows-1250"])
@pytest.mark.parametrize(
    "charset", ["", "utf-8", "iso-8859-2", "windows-1250", "iso-8859-1", "nonsense", "hex"]
)
def test_polish_text_is_decoded_despite_a_wrong_header(encoding: str, charset: str) -> None:
    assert decode_page(TEXT.encode(encoding), f"text/html; charset={charset}") == TEXT


@pytest.mark.parametrize(
    ("body", "header", "text"),
    [
        (codecs.BOM_UTF8 + "ą".encode(), "text/html; charset=iso-8859-2", "ą"),
        ("ą".encode("utf-16"), "", "ą"),
        (b"", "", ""),
        ("п".encode("koi8-r") * 9, "text/html; charset=koi8-r", "п" * 9),
        ((META.format("koi8-r") + "п" * 9).encode("koi8-r"), "", META.format("koi8-r") + "п" * 9),
        ("ą".encode() * 20 + b"\xff", "", "ą" * 20 + "\ufffd"),
        (b"plain", "text/html; charset=utf-16", "plain"),
    ],
)
def test_encoding_comes_from_mark_then_validity_then_page_then_header(
    body: bytes, header: str, text: str
) -> None:
    assert decode_page(body, header) == text


def test_binary_body_is_decoded_somehow() -> None:
    assert isinstance(decode_page(bytes(range(256)) * 9, "text/html; charset=base64"), str)


def test_links_of_anchors_areas_frames_and_refreshes_are_found() -> None:
    html = """<html><head><base href="/katalog/">
    <meta http-equiv=REFRESH content="0; URL=nowa.html"></head><body><a href=msze.html> Msze
    <b>święte</b></a><a href='/x'><img alt="Kontakt"></a><a href="#góra">Do góry</a><a>nic</a>
    <a href="mailto:x@p.pl">mail</a><area href=mapa alt=Mapa><iframe src=ramka title=Ramka></iframe>
    <a href="msze.html">jeszcze raz</a></body></html>"""
    assert find_links(html, "http://p.pl/") == [
        ("http://p.pl/katalog/nowa.html", ""),
        ("http://p.pl/katalog/msze.html", "Msze święte"),
        ("http://p.pl/x", "Kontakt"),
        ("http://p.pl/katalog/", "Do góry"),
        ("http://p.pl/katalog/mapa", "Mapa"),
        ("http://p.pl/katalog/ramka", "Ramka"),
    ]


def test_frameset_has_links() -> None:
    html = "<frameset><frame src=menu.html name=menu><frame src='/t.html'></frameset>"
    assert find_links(html, "http://p.pl/") == [
        ("http://p.pl/menu.html", ""),
        ("http://p.pl/t.html", ""),
    ]


@pytest.mark.parametrize(
    "html", ["", " ", "\0", "<", "<a href=", "<?xml version='1.0' encoding='x'?>", "\ud800"]
)
def test_invalid_html_has_no_links(html: str) -> None:
    assert find_links(html, "http://p.pl/") == []


def test_links_of_a_very_long_line_are_found() -> None:
    html = f"<p>{'msza 7:00 ' * 100_000}<a href=x>{'y' * 500}</a>"
    assert find_links(html, "http://p.pl/") == [("http://p.pl/x", "y" * 200)]
