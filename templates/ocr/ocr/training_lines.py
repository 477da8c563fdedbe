"""Lines to learn from: generated pages, on which pero-ocr finds the lines and cuts them out."""

from __future__ import annotations

import configparser
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from pero_ocr.core.layout import PageLayout, TextLine
from pero_ocr.document_ocr.page_parser import PageParser

from ocr.scan_page import Line, Page, draw_page
from ocr.stages import Stage

#: Narrow columns are cheap to learn from; the rest is what else will come.
KINDS = ("columns", "columns", "columns", "clean", "columns", "noise", "skew", "stains")


class Sample(NamedTuple):
    """A line as the model will see it, in grey, and what stands there."""

    crop: NDArray[np.uint8]
    text: str


def training_lines(configuration: Path, seed: int, pages: int) -> list[Sample]:
    """The lines of so many pages, made by two processes."""
    keys = [f"training/{seed}/{number}" for number in range(pages)]
    kinds = [KINDS[number % len(KINDS)] for number in range(pages)]
    with ProcessPoolExecutor(2, initializer=_start, initargs=(configuration,)) as processes:
        return [
            sample
            for samples in processes.map(_lines_of_page, keys, kinds, chunksize=4)
            for sample in samples
        ]


_parsers: list[PageParser] = []


def _start(configuration: Path) -> None:
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    config = configparser.ConfigParser()
    config.read([configuration / "layout" / "config.ini", configuration / "ocr" / "config.ini"])
    for section, key, value in (
        ("PAGE_PARSER", "RUN_LAYOUT_PARSER", "yes"),
        ("PAGE_PARSER", "RUN_OCR", "no"),
    ):
        config[section][key] = value
    _parsers.append(Stage(configuration, config).parser)


def _lines_of_page(key: str, kind: str) -> list[Sample]:
    page = draw_page(key, kind)
    image = np.repeat(page.pixels[:, :, np.newaxis], 3, axis=2)
    layout = PageLayout(id=key, page_size=image.shape[:2])
    _parsers[0].process_page(image, layout)
    return list(_matched(page, layout))


def _matched(page: Page, layout: PageLayout) -> Iterator[Sample]:
    """The lines that were found where there is one, each once."""
    taken: set[Line] = set()
    for found in layout.lines_iterator():
        line = _line_at(page, found)
        if line is not None and line not in taken and sum(found.heights) >= page.size * 0.6:
            taken.add(line)
            yield Sample(np.ascontiguousarray(found.crop[:, :, 0]), line.text)


def _line_at(page: Page, found: TextLine) -> Line | None:
    (left, left_y), (right, right_y) = found.baseline[0], found.baseline[-1]
    height = (int(left_y) + int(right_y)) / 2
    near = [
        line
        for line in page.lines
        if abs(line.baseline - height) < page.size * 0.45
        and left - 5 <= line.left <= left + 80
        and right - left < (520 if page.kind == "columns" else 1000)
    ]
    return near[0] if len(near) == 1 else None
