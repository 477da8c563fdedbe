"""The commands of README, tutorial and how-tos do what the pages say."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.documents import ROOT, Reader, commands

pytestmark = pytest.mark.xdist_group("e2e-documents")

HOW_TOS = sorted((ROOT / "docs/how-to").glob("*.md"))


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader.at_a_desk(tmp_path)
    yield reader
    reader.in_the_environment("sluice down")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Reader, str]]:
    """A reader whose system is up, for the pages that take that for granted; and its address."""
    reader = Reader.at_a_desk(tmp_path_factory.mktemp("how-to"))
    reader.in_the_environment("sluice up --detach")
    yield reader, json.loads(reader.in_the_environment("sluice status --json"))["url"]
    reader.in_the_environment("sluice down")


def test_first_use_of_the_readme(reader: Reader) -> None:
    install, rest = commands(ROOT / "README.md").split("\n", 1)
    assert install == "make install"
    reader.run(install, folder=ROOT)
    before, down, after = rest.partition("sluice down")
    assert down
    assert not after.strip()

    printed = reader.run(before)

    assert "14 the" in printed
    manifest = json.loads((reader.folder / "out/manifest.json").read_text())
    assert [output["name"] for output in manifest["outputs"]] == ["counts.txt"]
    assert re.search(r"wordcount 1\s.*finished", printed), "the chain is listed"
    url = re.search(r"ready at (http://\S+)", printed)
    assert url is not None
    page = httpx.get(url[1], follow_redirects=True)
    assert page.status_code == httpx.codes.OK
    assert "text/html" in page.headers["content-type"]
    assert "stopped" in reader.in_the_environment(down)


def test_tutorial(reader: Reader) -> None:
    printed = reader.in_the_environment(commands(ROOT / "docs/tutorial/README.md"))
    assert "2 steps: words (map), count (merge)" in printed
    assert "bad.txt" in printed, "the file that failed is named"
    assert (reader.folder / "choosy/out/counts.txt").read_text().split() == ["2", "a", "1", "line", "1", "with", "1", "word"]


@pytest.mark.parametrize("page", HOW_TOS, ids=lambda page: page.stem)
def test_how_to(page: Path, running: tuple[Reader, str]) -> None:
    reader, url = running
    script = commands(page)
    assert script
    if "curl" in script and shutil.which("curl") is None:
        pytest.skip("the commands of this page need curl")
    reader.in_the_environment(script.replace("http://127.0.0.1:8080", url))
