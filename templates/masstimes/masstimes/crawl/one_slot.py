"""A downloader for one site."""

from scrapy import Request
from scrapy.core.downloader import Downloader


class OneSlot(Downloader):
    """A downloader with one queue.

    Requests to all hosts of a site, and to the hosts of redirects of its robots.txt, wait for each
    other.
    """

    def get_slot_key(self, request: Request) -> str:
        """Return the same key for all requests."""
        return "site"
