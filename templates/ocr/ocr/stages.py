"""pero-ocr with the configuration of a stage: a folder with `config.ini` and its models.

PERO's own folders work unchanged, also if their `config.ini` has all stages. Each tool runs only
its own part of it.
"""

from __future__ import annotations

import configparser
import json
from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from pero_ocr.core.layout import PageLayout
from pero_ocr.document_ocr.page_parser import PageParser, get_default_device

from ocr.enlarged import enlarge_if_configured
from sluice.packs.programs import BadData, CommandError, reason_in
from sluice.text.os_errors import os_error_sentence, reason_of

#: The switches of `config.ini` that a stage leaves on.
STAGES: dict[str, tuple[str, ...]] = {
    "layout": ("RUN_LAYOUT_PARSER",),
    "transcribe": ("RUN_LINE_CROPPER", "RUN_OCR", "RUN_DECODER"),
}
_SWITCHES = tuple(part for parts in STAGES.values() for part in parts)
#: The switch that each stage needs.
_REQUIRED_SWITCHES = {"layout": "RUN_LAYOUT_PARSER", "transcribe": "RUN_OCR"}


class BadConfiguration(CommandError):
    """pero-ocr cannot use the configuration, and another attempt cannot help."""

    exit_code = 78

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(f"{folder}: {reason}")


class Stage:
    """pero-ocr, loaded for one stage."""

    def __init__(self, folder: Path, config: configparser.ConfigParser) -> None:
        self.config = config
        self.parser = PageParser(config, device=get_default_device(), config_path=str(folder))
        if self.parser.run_layout_parser:
            self.parser.layout_parsers = [
                enlarge_if_configured(config[section], parser)
                for section, parser in zip(
                    self._sections(), self.parser.layout_parsers, strict=True
                )
            ]

    def describe(self) -> str:
        """Return a description of the loaded stage in one line."""
        if self.parser.ocr is None:
            return ", ".join(self.methods())
        engine = self.parser.ocr.ocr_engine
        return f"model {engine.net_name}, {len(engine.characters) - 1} characters"

    def methods(self) -> list[str]:
        """Return the methods of the layout parsers, in order."""
        return [self.config[section].get("METHOD", "") for section in self._sections()]

    def _sections(self) -> list[str]:
        """Return the sections of the layout parsers that pero-ocr runs, in its order."""
        names = (f"LAYOUT_PARSER_{number}" for number in range(1, 10))
        return [name for name in names if name in self.config]

    def process(self, path: Path, image: NDArray[np.uint8], layout: PageLayout) -> PageLayout:
        """Return the page as the stage changes it.

        Raises:
            BadData: pero-ocr fails on this page; the error names `path`.
        """
        try:
            return self.parser.process_page(image, layout)
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # pero-ocr has no class of errors
            raise BadData(
                path, f"pero-ocr gave up on this page: {_describe_error(error)}"
            ) from error


def read_stages(folder: Path) -> list[str]:
    """Return the stages that `config.ini` runs.

    Raises:
        BadConfiguration: The configuration is not valid or runs no stage.
    """
    section = _read(folder)["PAGE_PARSER"]
    try:
        stages = [
            name
            for name, switch in _REQUIRED_SWITCHES.items()
            if section.getboolean(switch, fallback=False)
        ]
    except ValueError as error:
        raise BadConfiguration(folder, f"[PAGE_PARSER]: {_describe_error(error)}") from error
    if not stages:
        raise BadConfiguration(
            folder, "config.ini runs nothing: neither RUN_LAYOUT_PARSER nor RUN_OCR is yes"
        )
    return stages


def load_stage(stage: str, folder: Path, threads: int) -> Stage:
    """Load pero-ocr for a stage.

    Raises:
        BadConfiguration: The configuration does not run the stage, or pero-ocr refuses it.
    """
    torch.set_num_threads(threads)
    cv2.setNumThreads(threads)
    config = _read(folder)
    for switch in _SWITCHES:
        if switch not in STAGES[stage]:
            config["PAGE_PARSER"][switch] = "no"
    try:
        if not config["PAGE_PARSER"].getboolean(_REQUIRED_SWITCHES[stage], fallback=False):
            raise BadConfiguration(
                folder, f"config.ini does not say {_REQUIRED_SWITCHES[stage]} = yes"
            )
        loaded_stage = Stage(folder, config)
    except (MemoryError, torch.OutOfMemoryError, CommandError):
        raise
    except Exception as error:  # pero-ocr has no class of errors
        raise BadConfiguration(
            folder, f"pero-ocr refuses the configuration: {_describe_error(error)}"
        ) from error
    if stage == "transcribe":
        _check_model(folder, loaded_stage)
    return loaded_stage


def _read(folder: Path) -> configparser.ConfigParser:
    config = configparser.ConfigParser()
    try:
        text = (folder / "config.ini").read_text(encoding="utf-8")
        config.read_string(text, source="config.ini")
    except OSError as error:
        raise BadConfiguration(folder, f"config.ini cannot be read ({reason_of(error)})") from error
    except (configparser.Error, UnicodeDecodeError) as error:
        raise BadConfiguration(folder, _describe_error(error)) from error
    if "PAGE_PARSER" not in config:
        raise BadConfiguration(folder, "config.ini has no section [PAGE_PARSER]")
    return config


def _check_model(folder: Path, stage: Stage) -> None:
    """Check that the model fits its list of characters and the height of the lines.

    pero-ocr itself would fail at the first line, or transcribe nonsense.
    """
    engine = stage.parser.ocr.ocr_engine
    if not stage.parser.provides_ctc_logits:
        raise BadConfiguration(
            folder, "models of the method pytorch_ocr-transformer give no places of words, for ALTO"
        )
    height = engine.line_px_height
    if stage.parser.line_cropper is not None:
        line_height = stage.config["LINE_CROPPER"].getint("LINE_HEIGHT")
        if line_height != height:
            raise BadConfiguration(
                folder,
                f"config.ini has lines cut {line_height} pixels high (LINE_HEIGHT), "
                f"but the model wants {height} (line_px_height of its JSON)",
            )
    try:
        _, logits = engine.run_ocr(np.full((1, height, 128, 3), 255, np.uint8))
    except IndexError:
        output_size = None
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # pero-ocr has no class of errors
        raise BadConfiguration(
            folder, f"the model cannot read a line of {height} pixels: {_describe_error(error)}"
        ) from error
    else:
        output_size = logits.shape[2]
    listed_size = len(engine.characters)
    if output_size != listed_size:
        count = "more" if output_size is None else str(output_size - 1)
        raise BadConfiguration(
            folder,
            f"the model gives {count} characters, but its JSON names {listed_size - 1}: "
            "they do not belong together",
        )


def _describe_error(error: BaseException) -> str:
    """Return why pero-ocr cannot work, in one line."""
    reason = os_error_sentence(error) if isinstance(error, OSError) else reason_in(error)
    return f"not JSON: {reason}" if isinstance(error, json.JSONDecodeError) else reason
