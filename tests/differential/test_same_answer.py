"""Sluice and the reference runner give the same files, of the same names, in the same order."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.differential.answers import by_cwltool, by_sluice
from tests.e2e.systems import live_system

pytestmark = pytest.mark.xdist_group("differential")

TEMPLATES = sorted((Path(__file__).parent / "templates").glob("*.cwl"))

TEXTS = {
    "a.txt": "pear\napple\nfig\napple pie\n",
    "b.txt": "quince\nbanana\n",
    "c.txt": "",
    "d-4_x.txt": "zebra\nan apple a day\nécole\n",
    "e.txt": "".join(f"line {number}\n" for number in range(500)),
    "f.txt": "apple",
}

#: By template; none where it has no parameters.
PARAMS: Mapping[str, Mapping[str, Any]] = {
    "filter": {"word": "apple"},
    "nested": {"count": 2},
    "value-from": {"title": "T"},
    "when": {"wanted": True},
    "parameters": {"share": 0.25, "loud": True, "words": ["x", "y z"], "note": None},
}


#: By template, parameters that are files: what is in them.
FILES: Mapping[str, Mapping[str, str]] = {"file-parameters": {"words": "apple\nfig\n", "title": "T\n"}}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with live_system() as system:
        yield system.url


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_the_answer_is_the_reference_runners(template: Path, url: str, tmp_path: Path) -> None:
    files = [tmp_path / "in" / name for name in TEXTS]
    (tmp_path / "in").mkdir()
    for path in files:
        path.write_text(TEXTS[path.name])
    given = _written(FILES.get(template.stem, {}), tmp_path / "given")
    params = {**PARAMS.get(template.stem, {}), **given}
    expected = by_cwltool(template, files, params, folder=tmp_path)
    assert any(expected.values()), "the template gives nothing on these files, which shows nothing"
    assert by_sluice(url, template, files, params) == expected


def _written(texts: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """The parameters, each the CWL File object of a file of this text."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return {name: {"class": "File", "location": f"file://{folder}/{name}.txt"} for name in texts}
