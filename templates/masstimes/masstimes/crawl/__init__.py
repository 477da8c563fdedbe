"""A polite crawler for many small sites at the same time.

Decisions are separate from Scrapy, which fetches. Only ``spider``, ``pacing``, ``one_slot``,
``robots``, ``robots_requests`` and ``running`` import Scrapy.
"""
