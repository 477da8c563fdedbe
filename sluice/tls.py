"""What all HTTP clients of a process share."""

import ssl
from functools import cache

import httpx


def trust(url: str) -> ssl.SSLContext:
    """Whom a client of this address believes, for httpx's ``verify``. httpx would read all
    certificates for each client, 30 ms of a core; here it is once, and only where an address is
    ``https``. No other address is believed over TLS."""
    return _authorities() if url.startswith("https:") else _nobody()


@cache
def _authorities() -> ssl.SSLContext:
    return httpx.create_ssl_context()


@cache
def _nobody() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
