"""Sluice and the reference runner give the same files, of the same names, in the same order."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.differential.answers import answer_of_order, by_sluice
from tests.differential.reference import Reference
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
    "bindings": {"words": ["x y", "z"], "share": 1.5e-7},
    "branches": {"fast": False},
    "filter": {"word": "apple"},
    "nested": {"count": 2},
    "nested-over-data": {"count": 2},
    "pick-value": {"quick": True},
    "value-from": {"title": "T"},
    "when": {"wanted": True},
    "parameters": {"share": 0.25, "loud": True, "words": ["x", "y z"], "note": None},
}


#: By template, parameters that are files: what is in them.
FILES: Mapping[str, Mapping[str, str]] = {"file-parameters": {"words": "apple\nfig\n", "title": "T\n"}}


def _texts(folder: Path) -> list[Path]:
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return [folder / name for name in TEXTS]


def _measured_texts(folder: Path) -> list[Path]:
    """Each with its length beside it, some with a note."""
    files = _texts(folder)
    for number, path in enumerate(files):
        path.with_name(f"{path.name}.len").write_text(str(path.stat().st_size))
        if number % 2:
            path.with_suffix(".note").write_text(f"note {number}")
    return files


def _directories(folder: Path) -> list[Path]:
    for number in range(3):
        _texts_in(folder / f"tree-{number}", "one.txt", *(f"deep/{n}.txt" for n in range(number)))
    return sorted(folder.iterdir())


def _texts_in(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{folder.name} {name}\n")


#: By template, what makes its data set, if that is not the texts.
INPUTS: Mapping[str, Callable[[Path], list[Path]]] = {
    "first-secondary": _measured_texts,
    "first-directories": _directories,
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with live_system() as system:
        yield system.url


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    with Reference() as reference:
        yield reference


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_the_answer_is_the_reference_runners(template: Path, url: str, reference: Reference, tmp_path: Path) -> None:
    files = INPUTS.get(template.stem, _texts)(tmp_path / "in")
    given = _written(FILES.get(template.stem, {}), tmp_path / "given")
    params = {**PARAMS.get(template.stem, {}), **given}
    expected = answer_of_order(reference.run(template, files, params, folder=tmp_path))
    assert any(expected.values()), "the template gives nothing on these files, which shows nothing"
    assert by_sluice(url, template, files, params) == expected


def _written(texts: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """The parameters, each the CWL File object of a file of this text."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return {name: {"class": "File", "location": f"file://{folder}/{name}.txt"} for name in texts}
