"""Read forms on pages."""

import re

import httpx


def read_token(page: httpx.Response) -> str:
    match = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert match is not None
    return match[1]
