"""A downloader for one site."""

from __future__ import annotations

from scrapy import Request
from scrapy.core.downloader import Downloader


class OneSlot(Downloader):
    """All hosts of the site, and where its robots.txt leads, wait for each other."""

    def get_slot_key(self, request: Request) -> str:
        return "site"
