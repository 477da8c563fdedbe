"""pero-ocr's threshold-based region finder on an enlarged page, with dents in regions removed.

The finder's distances are fixed in pixels of fine scans: it joins columns closer than 90 pixels.
Its regions have dents at short lines. pero-ocr's line finder drops a line that leaves its region
and comes back.
"""

from __future__ import annotations

import configparser
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pero_ocr.core.layout import PageLayout

#: The key of this module in a section of pero-ocr's configuration.
KEY = "ENLARGE"
METHOD = "REGION_SIMPLE_THRESHOLD"


class EnlargingParser:
    """A region finder that enlarges the page and returns convex regions in its coordinates."""

    def __init__(self, parser: Any, factor: float) -> None:
        self._parser = parser
        self._factor = factor

    def process_page(self, image: NDArray[np.uint8], layout: PageLayout) -> PageLayout:
        """Find the regions of a page. pero-ocr calls this method."""
        larger = cv2.resize(
            image, None, fx=self._factor, fy=self._factor, interpolation=cv2.INTER_CUBIC
        )
        page_layout = self._parser.process_page(larger, layout)
        for region in page_layout.regions:
            hull = cv2.convexHull(region.polygon.astype(np.float32))
            region.polygon = hull[:, 0].astype(float) / self._factor
        return page_layout


def enlarge_if_configured(section: configparser.SectionProxy, parser: Any) -> Any:
    """Return the parser, enlarged if its section asks for that.

    Raises:
        ValueError: The factor is not valid, or the section has a different method.
    """
    if KEY not in section:
        return parser
    if section.get("METHOD") != METHOD:
        raise ValueError(f"[{section.name}] has {KEY}, which is for {METHOD} alone")
    factor = float(section[KEY])
    if not 1 <= factor <= 8:
        raise ValueError(f"[{section.name}] {KEY} = {section[KEY]} is not between 1 and 8")
    return EnlargingParser(parser, factor)
