"""A configuration that pero-ocr cannot use is refused in one sentence before any page is read."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from ocr import check_config, plain_loop

pytestmark = [
    pytest.mark.long("pero-ocr and torch have 1.5 GB, and `make test` does not install them"),
    pytest.mark.filterwarnings("ignore"),  # Warnings of torch and of imports of pero-ocr.
    pytest.mark.xdist_group("pero-ocr"),
]

CONFIGURATIONS = Path(__file__).parents[2] / "config"

Change = Callable[[Path], object]


def _change_characters(change: Callable[[list[str]], list[str]]) -> Change:
    def apply(folder: Path) -> None:
        about = json.loads((folder / "ocr.json").read_text())
        about["characters"] = change(about["characters"])
        (folder / "ocr.json").write_text(json.dumps(about))

    return apply


def _change_config(old: str, new: str) -> Change:
    def apply(folder: Path) -> None:
        text = (folder / "config.ini").read_text()
        assert old in text
        (folder / "config.ini").write_text(text.replace(old, new))

    return apply


def _write(name: str, content: str) -> Change:
    return lambda folder: (folder / name).write_text(content)


def _remove(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("layout", "REGION_SIMPLE_THRESHOLD, REGION_SORTER_SMART, LINES_SIMPLE_THRESHOLD"),
        ("ocr", "transcribe: model sluice-scans, 125 characters"),
    ],
)
def test_configurations_of_the_template_are_accepted(
    name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_config.main([str(CONFIGURATIONS / name)]) == 0
    assert message in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_remove("config.ini"), "config.ini cannot be read (No such file or directory)"),
        (_write("config.ini", "[OCR]\n"), "config.ini has no section [PAGE_PARSER]"),
        (_write("config.ini", "RUN_OCR = yes\n"), "File contains no section headers."),
        (
            _change_config("RUN_OCR = yes", "RUN_OCR = no"),
            "neither RUN_LAYOUT_PARSER nor RUN_OCR is yes",
        ),
        (_change_config("RUN_OCR = yes", "RUN_OCR = maybe"), "Not a boolean: maybe"),
        (_change_config("./ocr.json", "./none.json"), "none.json"),
        (_change_config("[LINE_CROPPER]", "[CROPPER]"), "'LINE_CROPPER' is missing"),
        (_change_config("LINE_HEIGHT = 40", "LINE_HEIGHT = 32"), "lines cut 32 pixels high"),
        (_write("ocr.json", "{"), "not JSON: line 1, column 2: expecting property name"),
        (_remove("ocr.pt.cpu"), "ocr.pt.cpu"),
        (
            _change_characters(lambda all_: all_[:-3]),
            "gives 125 characters, but its JSON names 122",
        ),
        (
            _change_characters(lambda all_: [*all_, "ß"]),
            "gives 125 characters, but its JSON names 126",
        ),
    ],
)
def test_unusable_configuration_is_refused_in_one_sentence(
    change: Change, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "config"
    shutil.copytree(CONFIGURATIONS / "ocr", folder)
    change(folder)
    assert check_config.main([str(folder)]) == 78
    stderr = capsys.readouterr().err
    assert stderr.startswith(f"ocr-check-config: {folder}: ")
    assert stderr.count("\n") == 1
    assert sentence in stderr


def test_invalid_model_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(CONFIGURATIONS / "ocr", tmp_path / "config", symlinks=True)
    (tmp_path / "config" / "ocr.pt").write_bytes(b"no model")
    assert check_config.main([str(tmp_path / "config")]) == 78
    stderr = capsys.readouterr().err
    assert "pero-ocr refuses the configuration: " in stderr
    assert stderr.count("\n") == 1


def test_unknown_layout_method_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (CONFIGURATIONS / "layout" / "config.ini").read_text()
    (tmp_path / "config.ini").write_text(text.replace("REGION_SORTER_SMART", "REGION_SORTER"))
    assert check_config.main([str(tmp_path), "--stage", "layout"]) == 78
    stderr = capsys.readouterr().err
    assert "pero-ocr refuses the configuration: " in stderr
    assert stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("ENLARGE = 1.25", "ENLARGE = 0.5", "[LAYOUT_PARSER_1] ENLARGE = 0.5 is not between"),
        ("ENLARGE = 1.25", "ENLARGE = twice", "could not convert string to float: 'twice'"),
        ("BLOCK_SIZE", "ENLARGE = 2\nBLOCK_SIZE", "[LAYOUT_PARSER_3] has ENLARGE, which is for"),
    ],
)
def test_invalid_enlargement_is_refused(
    old: str, new: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (CONFIGURATIONS / "layout" / "config.ini").read_text()
    assert old in text
    (tmp_path / "config.ini").write_text(text.replace(old, new))
    assert check_config.main([str(tmp_path)]) == 78
    assert sentence in capsys.readouterr().err


def test_plain_loop_refuses_a_configuration_that_it_cannot_load(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.ini").write_text("[PAGE_PARSER]\nRUN_OCR = yes\n")
    options = [f"--layout-config={CONFIGURATIONS / 'layout'}", f"--ocr-config={tmp_path}"]
    assert plain_loop.main(["none.png", *options, f"--out={tmp_path / 'out'}"]) == 78
    assert "pero-ocr refuses the configuration: " in capsys.readouterr().err
