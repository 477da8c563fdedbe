"""What the page is made of fits together, and to the other pages."""

import re
from pathlib import Path

import wfms

WFMS = Path(next(iter(wfms.__path__)))
PAGE = WFMS / "ask" / "api" / "page"
OTHERS = WFMS / "operator" / "api" / "pages" / "static"

COLOURS = re.compile(
    r"^@media \(prefers-color-scheme: dark\) \{\n  :root \{.*?^}|^:root \{\n.*?^}", re.M | re.S
)
PARTS = re.compile(
    r"""(?:from |import |\.\./-|new URL\()["/']?\.?/?([a-z_]+\.(?:js|css|svg))["']?"""
)


def test_colours_are_those_of_the_other_pages() -> None:
    own, others = (
        (folder / name).read_text() for folder, name in ((PAGE, "ask.css"), (OTHERS, "sluice.css"))
    )
    assert COLOURS.findall(own)[:2] == COLOURS.findall(others)[:2]
    assert len(COLOURS.findall(own)) == 2


def test_every_part_that_is_named_is_there_and_every_part_is_named() -> None:
    files = {path.name: path.read_text() for path in PAGE.iterdir()}
    named = {name for text in files.values() for name in PARTS.findall(text)}
    assert named == set(files) - {"page.html"}


def test_nothing_in_it_needs_a_laxer_policy() -> None:
    page = (PAGE / "page.html").read_text()
    assert re.findall(r"<style|style=|\son[a-z]+=|<script(?![^>]*\ssrc=)", page) == []


def test_what_its_scripts_look_up_is_on_the_page() -> None:
    ids = set(re.findall(r'\sid="([^"]+)"', (PAGE / "page.html").read_text()))
    looked_up = {
        name
        for path in PAGE.glob("*.js")
        for name in re.findall(r'(?:element|getElementById)\("([^"]+)"\)', path.read_text())
    }
    assert looked_up
    assert looked_up <= ids
