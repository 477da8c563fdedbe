"""A polite crawler for many small sites at once.

What is decided stands apart from Scrapy, which fetches: only ``spider``, ``pacing``, ``one_slot``,
``robots``, ``robots_requests`` and ``running`` import it.
"""
