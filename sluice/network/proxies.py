"""Choice of the proxy for a request.

Requests carry tokens. A proxy can read a plain HTTP request, but it only passes on the encrypted
bytes of an HTTPS connection. Therefore plain HTTP always goes directly to its host. HTTPS goes
through the proxy that the environment names. Nothing that stays on this machine uses a proxy.
"""

import ipaddress
from urllib.parse import urlsplit


class UnusableProxy(OSError):
    """The environment names a proxy that cannot be used."""


def proxy_for(url: str) -> str | None:
    """Return the address of the proxy for requests to ``url``, or None for a direct connection."""
    parts = urlsplit(url)
    if parts.scheme != "https" or is_loopback(parts.hostname or ""):
        return None
    return _named_proxy(parts.scheme, parts.netloc.rpartition("@")[2])


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is a name or an address of this machine's loopback interface."""
    host = host.lower().rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool(address.is_loopback or (mapped is not None and mapped.is_loopback))


def without_password(proxy: str) -> str:
    """Return the address of a proxy as it may be shown to people."""
    return proxy if "@" not in proxy else f"{proxy.partition('//')[0]}//{proxy.rpartition('@')[2]}"


def direct_connection_note(url: str) -> str:
    """Return what to add to the message that ``url`` cannot be reached.

    It is empty unless the environment names a proxy that plain HTTP does not use.
    """
    parts = urlsplit(url)
    if parts.scheme != "http" or is_loopback(parts.hostname or ""):
        return ""
    proxy = _named_proxy("http", parts.netloc.rpartition("@")[2])
    if proxy is None:
        return ""
    return (
        f" (connected directly: plain HTTP does not go through the proxy"
        f" {without_password(proxy)}, which could read the token; use an https address)"
    )


def _named_proxy(scheme: str, host: str) -> str | None:
    """Return the proxy that the environment names for ``host``, which may end with a port."""
    # The import takes long, and the module is seldom needed.
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415

    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
