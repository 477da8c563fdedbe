"""Pages through the tools of the template: results are correct and valid."""

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
from ocr.page_xml import get_page, get_text, get_words, iter_regions, parse_page

from templates.ocr.tests.integration.conftest import KINDS, read_content, read_contents
from templates.ocr.tests.integration.schemas import load_schema

pytestmark = [
    pytest.mark.long("pero-ocr and torch have 1.5 GB, and `make test` does not install them"),
    pytest.mark.filterwarnings("ignore"),  # Warnings of torch and of imports of pero-ocr.
    pytest.mark.xdist_group("pero-ocr"),
]

PACK = Path(__file__).parents[2]
LAYOUT, OCR = (str(PACK / "config" / name) for name in ("layout", "ocr"))


def run_tools(image: Path, out: Path) -> int:
    """Run the three tools in turn, and return the first exit code that is not 0."""
    layout_file, page = out / f"{image.stem}.layout.xml", out / f"{image.stem}.xml"
    texts = [
        "--alto",
        str(out / f"{image.stem}.alto.xml"),
        "--text",
        str(out / f"{image.stem}.txt"),
    ]
    return (
        layout.main([str(image), "--config", LAYOUT, "--out", str(layout_file)])
        or transcribe.main([str(image), str(layout_file), "--config", OCR, "--out", str(page)])
        or export.main([str(page), *texts])
    )


@pytest.fixture(scope="module")
def results(pages: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the files of the three pages and of their volume, from a loop without Sluice."""
    out = tmp_path_factory.mktemp("results")
    options = ["--layout-config", LAYOUT, "--ocr-config", OCR, "--out", str(out)]
    assert plain_loop.main([*map(str, pages), *options, "--processes", "1"]) == 0
    return out


def test_character_error_rate_is_at_most_two_percent(pages: list[Path], results: Path) -> None:
    texts = [results / f"{page.stem}.txt" for page in pages]
    rates = score.score(pages[0].parents[1] / "truth", texts)
    assert list(rates) == list(KINDS)
    assert all(of_kind["cer"] <= 0.02 for of_kind in rates.values()), rates


def count_found_lines(key: str, kind: str) -> tuple[int, int]:
    """Return the number of lines on a drawn page, and the number that is found."""
    from ocr.stages import load_stage  # noqa: PLC0415 - not where pero-ocr is not installed

    page = scan_page.draw_page(key, kind)
    image = np.repeat(page.pixels[:, :, np.newaxis], 3, axis=2)
    layout_result = layout.lay_out(
        load_stage("layout", Path(LAYOUT), 1), Path(f"{kind}.png"), image
    )
    return len(page.lines), sum(len(region.lines) for region in layout_result.regions)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("71/volume/2", "columns"),  # columns that pero-ocr takes for one
        ("905/volume/7", "stains"),  # folds and stains beside lines
        ("cols/0", "noise"),
    ],
)
def test_all_lines_are_found_on_pages_with_close_columns_and_stains(key: str, kind: str) -> None:
    there, line_count = count_found_lines(key, kind)
    assert line_count == there


def test_page_xml_is_valid(pages: list[Path], results: Path) -> None:
    xml_schema = load_schema("page")
    for page in pages:
        for name in (f"{page.stem}.layout.xml", f"{page.stem}.xml"):
            assert xml_schema.validate(etree.parse(results / name)), xml_schema.error_log


def test_mets_is_valid(results: Path) -> None:
    xml_schema = load_schema("mets")
    assert xml_schema.validate(etree.parse(results / "volume.mets.xml")), xml_schema.error_log


def test_every_word_has_a_box_in_its_line_and_a_confidence(
    pages: list[Path], results: Path
) -> None:
    for page in pages:
        lines = [
            line
            for region in iter_regions(get_page(parse_page(results / f"{page.stem}.xml")))
            for line in region
        ]
        assert len(lines) > 12
        for line in lines:
            words = get_words(line)
            assert [word.text for word in words] == get_text(line).split()
            lefts = [word.box.left for word in words]
            assert lefts == sorted(lefts)
            assert all(word.box.width > 0 and word.box.height > 0 for word in words)
            assert all(0 <= float(word.confidence or -1) <= 1 for word in words)


def test_alto_has_the_words_and_boxes_of_the_page(pages: list[Path], results: Path) -> None:
    ns = "{http://www.loc.gov/standards/alto/ns-v4#}"
    for page in pages:
        alto = etree.parse(results / f"{page.stem}.alto.xml")
        words = [
            (word.get("CONTENT"), *(int(word.get(side)) for side in ("HPOS", "VPOS", "WIDTH")))
            for word in alto.iter(f"{ns}String")
        ]
        of_page = [
            (word.text, *word.box[:3])
            for region in iter_regions(get_page(parse_page(results / f"{page.stem}.xml")))
            for line in region
            for word in get_words(line)
        ]
        assert words == of_page


def test_single_tools_give_the_same_files_as_the_loop(
    pages: list[Path], results: Path, tmp_path: Path
) -> None:
    assert run_tools(pages[1], tmp_path) == 0
    for name, text in read_contents(tmp_path).items():
        assert text == read_content(results / name), name


def test_page_without_text_has_an_empty_transcription(tmp_path: Path) -> None:
    blank = tmp_path / "blank.png"
    blank.write_bytes(damage.DAMAGES["blank"](b"", "png"))
    assert run_tools(blank, tmp_path) == 0
    assert (tmp_path / "blank.txt").read_bytes() == b""
    xml_schema = load_schema("page")
    for name in ("blank.layout.xml", "blank.xml"):
        assert xml_schema.validate(etree.parse(tmp_path / name)), xml_schema.error_log
    inputs = [
        text
        for option, end in (("--pages", "xml"), ("--altos", "alto.xml"), ("--texts", "txt"))
        for text in (option, str(tmp_path / f"blank.{end}"))
    ]
    assert volume.main(["--name", "empty", "--out", str(tmp_path), *inputs]) == 0
    [row] = csv.DictReader((tmp_path / "empty.confidences.csv").read_text().splitlines())
    assert (row["lines"], row["words"], row["mean_word_confidence"]) == ("0", "0", "")


def test_layout_of_another_image_is_refused(
    pages: list[Path], results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.png"
    pixels = images.read_page_image(pages[0])[:-5, :, 0]
    other.write_bytes(images.encode_image(pixels, "png"))
    layout_file = results / f"{pages[0].stem}.layout.xml"
    out = tmp_path / "out.xml"
    assert transcribe.main([str(other), str(layout_file), "--config", OCR, "--out", str(out)]) == 65
    stderr = capsys.readouterr().err
    assert (
        "its lines are of an image of 1000 × 1414 pixels, but other.png has 1000 × 1409" in stderr
    )
    assert not out.exists()


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield `ocr-layout` as a warm worker."""
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


def test_warm_worker_gives_the_same_files_and_survives_an_invalid_page(
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
    assert "bad.png: this is not an image" in (tmp_path / "log").read_text()
    for image in (pages[0], pages[2]):
        name = f"{image.stem}.layout.xml"
        assert read_content(tmp_path / name) == read_content(results / name)
