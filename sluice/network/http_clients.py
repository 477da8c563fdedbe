"""HTTP clients: the proxy that a client uses, and the servers that it trusts.

No client follows a redirect unless its caller asks for it. httpx then removes the token from a
request that goes to another host.
"""

import ssl
from functools import cache
from importlib.util import find_spec
from typing import Any

import httpx

from sluice.network.proxies import UnusableProxy, proxy_for, without_password


def http_client(url: str, **options: Any) -> httpx.AsyncClient:
    """Return a client for the service at ``url``, its base URL.

    Args:
        url: The address of the service.
        options: The options of ``httpx.AsyncClient``.

    Raises:
        UnusableProxy: The environment names a proxy that cannot be used.
    """
    return httpx.AsyncClient(base_url=url, **connection_options(url), **options)


def send_request(method: str, url: str, **options: Any) -> httpx.Response:
    """Send one request and return the response.

    Args:
        method: The HTTP method.
        url: The full address.
        options: The options of ``httpx.request``.

    Raises:
        UnusableProxy: The environment names a proxy that cannot be used.
        httpx.HTTPError: There is no response.
    """
    return httpx.request(method, url, **connection_options(url), **options)


def connection_options(url: str) -> dict[str, Any]:
    """Return the options of an httpx client for ``url`` that say how it connects.

    Raises:
        UnusableProxy: The environment names a proxy that cannot be used.
    """
    return {"verify": trusted_authorities(url), "trust_env": False, "proxy": _proxy(url)}


def trusted_authorities(url: str) -> ssl.SSLContext:
    """Return the certificate authorities that a client of ``url`` trusts, for httpx's ``verify``.

    httpx would read all certificates for each client, which takes 30 ms of a core. This function
    reads them once, and only for an ``https`` address. A client of any other address trusts none.
    """
    return _public_authorities() if url.startswith("https:") else _no_authorities()


def _proxy(url: str) -> httpx.Proxy | None:
    address = proxy_for(url)
    if address is None:
        return None
    visible_address, host = without_password(address), httpx.URL(url).host
    remedy = f"name another proxy in https_proxy, or {host} in no_proxy"
    if address.startswith("socks") and find_spec("socksio") is None:
        raise UnusableProxy(
            f"the environment names the proxy {visible_address} for {url}, and SOCKS proxies need"
            f" the Python package socksio: install it (`pip install socksio`), {remedy}"
        )
    try:
        return httpx.Proxy(address)
    except (ValueError, httpx.InvalidURL) as error:
        raise UnusableProxy(
            f"the environment names the proxy {visible_address} for {url}, which is not the address"
            f" of an HTTP or SOCKS proxy: {remedy}"
        ) from error


@cache
def _public_authorities() -> ssl.SSLContext:
    return httpx.create_ssl_context()


@cache
def _no_authorities() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
