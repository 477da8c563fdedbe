"""pero-ocr's finder of regions by thresholds, on the page enlarged.

It counts in pixels of fine scans and cannot be told otherwise: columns closer than 90 pixels become
one. And what it finds has dents, at short lines; of a line that leaves its region and comes back
pero-ocr's finder of lines takes nothing.
"""

from __future__ import annotations

import configparser
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pero_ocr.core.layout import PageLayout

#: What is ours in a section of pero-ocr's.
KEY = "ENLARGE"
METHOD = "REGION_SIMPLE_THRESHOLD"


class Enlarged:
    """Finds regions of a page, which come back as they are on the page itself, without dents."""

    def __init__(self, parser: Any, factor: float) -> None:
        self._parser = parser
        self._factor = factor

    def process_page(self, image: NDArray[np.uint8], layout: PageLayout) -> PageLayout:
        """As pero-ocr calls it."""
        larger = cv2.resize(
            image, None, fx=self._factor, fy=self._factor, interpolation=cv2.INTER_CUBIC
        )
        found = self._parser.process_page(larger, layout)
        for region in found.regions:
            hull = cv2.convexHull(region.polygon.astype(np.float32))
            region.polygon = hull[:, 0].astype(float) / self._factor
        return found


def as_configured(section: configparser.SectionProxy, parser: Any) -> Any:
    """The parser, enlarged where its section says so. Raises ValueError."""
    if KEY not in section:
        return parser
    if section.get("METHOD") != METHOD:
        raise ValueError(f"[{section.name}] has {KEY}, which is for {METHOD} alone")
    factor = float(section[KEY])
    if not 1 <= factor <= 8:
        raise ValueError(f"[{section.name}] {KEY} = {section[KEY]} is not between 1 and 8")
    return Enlarged(parser, factor)
