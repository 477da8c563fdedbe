"""One generated page: its text in lines and columns, its image, and the position of each line."""

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ocr.blemishes import BLEMISHES, Grey
from ocr.fonts import FONTS, load_font
from ocr.scan_text import draw_word

WIDTH, HEIGHT, MARGIN = 1000, 1414, 90
GUTTER = 80
SIZES = (24, 28, 32, 36)
#: Kinds of pages. All but `clean` and `columns` are clean pages with a blemish.
KINDS = ("clean", "columns", *BLEMISHES)


class Line(NamedTuple):
    """A line of text, with its left end and its baseline before any skew."""

    text: str
    left: int
    baseline: int


@dataclass(frozen=True, slots=True)
class Page:
    """A generated page, with its lines in reading order."""

    kind: str
    font: str
    size: int
    lines: list[Line]
    pixels: Grey


def draw_page(key: str, kind: str) -> Page:
    """Return the page of that kind for `key`. The same key gives the same pixels."""
    random = Random(key)  # noqa: S311 - scans are no secrets
    font_name, size = random.choice(FONTS), random.choice(SIZES)
    if kind == "columns":
        size = random.choice(SIZES[:2])
    font = load_font(font_name, size)
    lines = [
        line
        for left, width in _column_positions(kind)
        for line in _draw_column(random, font, left, width)
    ]
    image = Image.new("L", (WIDTH, HEIGHT), 255 - random.randrange(14))
    pen = ImageDraw.Draw(image)
    ink = random.randrange(10, 60)
    for line in lines:
        pen.text((line.left, line.baseline), line.text, fill=ink, font=font, anchor="ls")
    pixels = np.asarray(image)
    if kind in BLEMISHES:
        pixels = BLEMISHES[kind](pixels, random)
    return Page(kind, font_name, size, lines, pixels)


def _column_positions(kind: str) -> list[tuple[int, int]]:
    text_width = WIDTH - 2 * MARGIN
    if kind != "columns":
        return [(MARGIN, text_width)]
    width = (text_width - GUTTER) // 2
    return [(MARGIN, width), (MARGIN + width + GUTTER, width)]


def _draw_column(
    random: Random, font: ImageFont.FreeTypeFont, left_edge: int, width: int
) -> list[Line]:
    leading = round(font.size * random.uniform(1.45, 1.7))
    lines: list[Line] = []
    baseline = MARGIN + round(font.size)
    bottom = HEIGHT - MARGIN - random.randrange(200)
    last_of_paragraph = 0
    words: list[str] = []
    while baseline < bottom:
        # A paragraph has three to nine whole lines, then a short one.
        limit = width
        if last_of_paragraph == 0:
            last_of_paragraph = random.randrange(4, 11)
        last_of_paragraph -= 1
        if last_of_paragraph == 0:
            limit = round(width * random.uniform(0.3, 0.9))
        while font.getlength(" ".join(words)) <= limit:
            words.append(draw_word(random))
        line_words = words[:-1] or words
        text = " ".join(line_words)
        words = words[len(line_words) :]
        lines.append(Line(text, left_edge, baseline))
        baseline += leading
    return lines
