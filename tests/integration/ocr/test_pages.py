"""Pages through the tools of the pack: what comes out is right, and what the schemas want."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree
from ocr import damage, export, images, layout, plain_loop, scan_page, score, transcribe, volume
from ocr.page_xml import page_of, parse_page, regions, text_of, words_of

from tests.integration.ocr.conftest import KINDS, content, contents
from tests.integration.ocr.schemas import schema

pytestmark = [
    pytest.mark.long("pero-ocr and torch are 1.5 GB, which `make test` does without"),
    pytest.mark.filterwarnings("ignore"),  # those of torch and what pero-ocr imports
    pytest.mark.xdist_group("pero-ocr"),
]

PACK = Path(__file__).parents[3] / "templates" / "ocr"
LAYOUT, OCR = (str(PACK / "config" / name) for name in ("layout", "ocr"))


def run_tools(image: Path, out: Path) -> int:
    """The three tools, one after the other; the first exit code that is not 0."""
    found, page = out / f"{image.stem}.layout.xml", out / f"{image.stem}.xml"
    texts = [
        "--alto",
        str(out / f"{image.stem}.alto.xml"),
        "--text",
        str(out / f"{image.stem}.txt"),
    ]
    return (
        layout.main([str(image), "--config", LAYOUT, "--out", str(found)])
        or transcribe.main([str(image), str(found), "--config", OCR, "--out", str(page)])
        or export.main([str(page), *texts])
    )


@pytest.fixture(scope="module")
def results(pages: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the three pages and of their volume, by a loop without Sluice."""
    out = tmp_path_factory.mktemp("results")
    options = ["--layout-config", LAYOUT, "--ocr-config", OCR, "--out", str(out)]
    assert plain_loop.main([*map(str, pages), *options, "--processes", "1"]) == 0
    return out


def test_almost_all_that_stands_there_is_read(pages: list[Path], results: Path) -> None:
    texts = [results / f"{page.stem}.txt" for page in pages]
    found = score.score(pages[0].parents[1] / "truth", texts)
    assert list(found) == list(KINDS)
    assert all(of_kind["cer"] <= 0.02 for of_kind in found.values()), found


def lines_found(key: str, kind: str) -> tuple[int, int]:
    """How many lines there are on a drawn page, and how many are found."""
    from ocr.stages import load_stage  # noqa: PLC0415 - not where pero-ocr is not installed

    page = scan_page.draw_page(key, kind)
    image = np.repeat(page.pixels[:, :, np.newaxis], 3, axis=2)
    found = layout.lay_out(load_stage("layout", Path(LAYOUT), 1), Path(f"{kind}.png"), image)
    return len(page.lines), sum(len(region.lines) for region in found.regions)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("71/volume/2", "columns"),  # columns that touch for pero-ocr
        ("905/volume/7", "stains"),  # folds and stains beside lines
        ("cols/0", "noise"),
    ],
)
def test_no_line_is_lost_where_columns_are_close_and_pages_are_stained(key: str, kind: str) -> None:
    there, found = lines_found(key, kind)
    assert found == there


def test_page_xml_is_what_its_schema_wants(pages: list[Path], results: Path) -> None:
    wanted = schema("page")
    for page in pages:
        for name in (f"{page.stem}.layout.xml", f"{page.stem}.xml"):
            assert wanted.validate(etree.parse(results / name)), wanted.error_log


def test_mets_is_what_its_schema_wants(results: Path) -> None:
    wanted = schema("mets")
    assert wanted.validate(etree.parse(results / "volume.mets.xml")), wanted.error_log


def test_every_word_has_a_box_in_its_line_and_a_confidence(
    pages: list[Path], results: Path
) -> None:
    for page in pages:
        lines = [
            line
            for region in regions(page_of(parse_page(results / f"{page.stem}.xml")))
            for line in region
        ]
        assert len(lines) > 12
        for line in lines:
            words = words_of(line)
            assert [word.text for word in words] == text_of(line).split()
            lefts = [word.box.left for word in words]
            assert lefts == sorted(lefts)
            assert all(word.box.width > 0 and word.box.height > 0 for word in words)
            assert all(0 <= float(word.confidence or -1) <= 1 for word in words)


def test_alto_has_the_words_of_the_page_with_their_places(pages: list[Path], results: Path) -> None:
    ns = "{http://www.loc.gov/standards/alto/ns-v4#}"
    for page in pages:
        alto = etree.parse(results / f"{page.stem}.alto.xml")
        found = [
            (word.get("CONTENT"), *(int(word.get(side)) for side in ("HPOS", "VPOS", "WIDTH")))
            for word in alto.iter(f"{ns}String")
        ]
        of_page = [
            (word.text, *word.box[:3])
            for region in regions(page_of(parse_page(results / f"{page.stem}.xml")))
            for line in region
            for word in words_of(line)
        ]
        assert found == of_page


def test_the_tools_one_by_one_give_the_same_files(
    pages: list[Path], results: Path, tmp_path: Path
) -> None:
    assert run_tools(pages[1], tmp_path) == 0
    for name, found in contents(tmp_path).items():
        assert found == content(results / name), name


def test_a_page_without_text_has_an_empty_transcription(tmp_path: Path) -> None:
    blank = tmp_path / "blank.png"
    blank.write_bytes(damage.DAMAGES["blank"](b"", "png"))
    assert run_tools(blank, tmp_path) == 0
    assert (tmp_path / "blank.txt").read_bytes() == b""
    wanted = schema("page")
    for name in ("blank.layout.xml", "blank.xml"):
        assert wanted.validate(etree.parse(tmp_path / name)), wanted.error_log
    given = [
        text
        for option, end in (("--pages", "xml"), ("--altos", "alto.xml"), ("--texts", "txt"))
        for text in (option, str(tmp_path / f"blank.{end}"))
    ]
    assert volume.main(["--name", "empty", "--out", str(tmp_path), *given]) == 0
    [row] = csv.DictReader((tmp_path / "empty.confidences.csv").read_text().splitlines())
    assert (row["lines"], row["words"], row["mean_word_confidence"]) == ("0", "0", "")


def test_lines_of_another_image_are_refused(
    pages: list[Path], results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.png"
    pixels = images.read_page_image(pages[0])[:-5, :, 0]
    other.write_bytes(images.encode_image(pixels, "png"))
    found = results / f"{pages[0].stem}.layout.xml"
    out = tmp_path / "out.xml"
    assert transcribe.main([str(other), str(found), "--config", OCR, "--out", str(out)]) == 65
    told = capsys.readouterr().err
    assert "its lines are of an image of 1000 × 1414 pixels, but other.png has 1000 × 1409" in told
    assert not out.exists()


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """`ocr-layout` as it stays loaded."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("ocr-layout"), "--persistent_worker"],
            **pipes,
            stderr=log,
            cwd=tmp_path,
            text=True,
        )
    yield process
    with process:
        process.kill()


def test_a_tool_that_stays_loaded_gives_the_same_files_and_survives_a_bad_page(
    worker: subprocess.Popen[str], pages: list[Path], results: Path, tmp_path: Path
) -> None:
    assert worker.stdin is not None
    assert worker.stdout is not None
    bad = tmp_path / "bad.png"
    bad.write_text("no image")
    codes = []
    for image in (pages[0], bad, pages[2]):
        out = str(tmp_path / f"{image.stem}.layout.xml")
        arguments = [str(image), "--config", LAYOUT, "--out", out]
        worker.stdin.write(json.dumps({"arguments": arguments}) + "\n")
        worker.stdin.flush()
        codes.append(json.loads(worker.stdout.readline())["exitCode"])
    assert codes == [0, 65, 0]
    assert "bad.png: this is no image" in (tmp_path / "log").read_text()
    for image in (pages[0], pages[2]):
        name = f"{image.stem}.layout.xml"
        assert content(tmp_path / name) == content(results / name)
