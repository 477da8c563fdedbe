"""A polite crawler for many small sites at once. What is decided stands apart from Scrapy, which
fetches: only ``spider``, ``pacing``, ``one_slot`` and ``running`` import it."""
