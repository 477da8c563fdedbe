"""Parts of the page for annotators: files, colours, and texts agree."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import wfms

WFMS = Path(next(iter(wfms.__path__)))
PAGE = WFMS / "ask" / "api" / "page"
OTHERS = WFMS / "operator" / "web" / "pages" / "static"

COLOURS = re.compile(
    r"^@media \(prefers-color-scheme: dark\) \{\n  :root \{.*?^}|^:root \{\n.*?^}", re.M | re.S
)
PARTS = re.compile(
    r"""(?:from |import |\.\./-|new URL\()["/']?\.?/?([a-z_]+\.(?:js|css|svg))["']?"""
)


def test_annotation_page_has_the_colours_of_the_other_pages() -> None:
    own, others = (
        (folder / name).read_text() for folder, name in ((PAGE, "ask.css"), (OTHERS, "sluice.css"))
    )
    assert COLOURS.findall(own)[:2] == COLOURS.findall(others)[:2]
    assert len(COLOURS.findall(own)) == 2


def test_each_file_of_the_page_exists_and_is_used() -> None:
    files = {path.name: path.read_text() for path in PAGE.iterdir()}
    named = {name for text in files.values() for name in PARTS.findall(text)}
    assert named == set(files) - {"page.html"}


def test_page_needs_no_inline_scripts_or_styles() -> None:
    page = (PAGE / "page.html").read_text()
    assert re.findall(r"<style|style=|\son[a-z]+=|<script(?![^>]*\ssrc=)", page) == []


def test_elements_that_the_scripts_use_are_on_the_page() -> None:
    ids = set(re.findall(r'\sid="([^"]+)"', (PAGE / "page.html").read_text()))
    looked_up = {
        name
        for path in PAGE.glob("*.js")
        for name in re.findall(r'(?:element|getElementById)\("([^"]+)"\)', path.read_text())
    }
    assert looked_up
    assert looked_up <= ids


def read_catalogue(language: str) -> dict[str, Any]:
    """Read the texts of a language and its plural forms, with node.js."""
    script = (
        f"import texts from {json.dumps(str(PAGE / f'texts_{language}.js'))};"
        f" const forms = new Intl.PluralRules({json.dumps(language)}).resolvedOptions();"
        " console.log(JSON.stringify({ texts, forms: forms.pluralCategories }));"
    )
    command = ["node", "--input-type=module", "--experimental-default-type=module", "-e", script]
    return dict(json.loads(subprocess.check_output(command)))


LANGUAGES = sorted(path.stem.removeprefix("texts_") for path in PAGE.glob("texts_*.js"))


def list_placeholders(text: object) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text if isinstance(text, str) else json.dumps(text)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_all_texts_with_placeholders_and_plural_forms(
    language: str,
) -> None:
    english, own = read_catalogue("en")["texts"], read_catalogue(language)
    assert own["texts"].keys() == english.keys()
    for name, text in own["texts"].items():
        assert list_placeholders(text) == list_placeholders(english[name]), name
        assert isinstance(text, str) == isinstance(english[name], str), name
        if not isinstance(text, str):
            assert set(text) == set(own["forms"]), name
            assert all("{count}" in form for form in text.values()), name


def test_catalogue_has_exactly_the_texts_that_the_page_uses() -> None:
    names = read_catalogue("en")["texts"].keys()
    scripts = [path.read_text() for path in PAGE.glob("*.js") if path.stem[:5] != "texts"]
    used = set(re.findall(r'data-(?:text|label)="([^"]+)"', (PAGE / "page.html").read_text()))
    for script in scripts:
        for call in re.findall(r'\btext\(([^{}]*?"[^)]*)', script):
            used.update(re.findall(r'"([^"]+)"', call))
    keys = {name for name in names if name.startswith("key ")}
    assert used | {"marked"} == names - keys, "only the style sheet uses marked"
    html = (PAGE / "page.html").read_text()
    assert {f"key {name}" for name in re.findall(r'data-key="([^"]+)"', html)} == keys
