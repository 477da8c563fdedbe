"""Addresses: which are the same page, which belong to a site, which lead into a trap."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections import Counter
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from masstimes.crawl.limits import Limits

_SESSIONS = (
    r"phpsessid|sessid|sessionid|session_id|session|sid|jsessionid|zenid|oscsid|cfid|cftoken"
    r"|aspsessionid\w{0,40}"
)
_SESSION = re.compile(rf"(?:{_SESSIONS})=[\w.,-]*", re.IGNORECASE)
_IN_PATH = re.compile(rf";(?:{_SESSIONS})=[^/?#;]*", re.IGNORECASE)
_KEPT = "/%:=&?~+!$,;'@()*[]-._"
_LOCAL_NAMES = (".localhost", ".local", ".internal")
_PORTS = {"http": 80, "https": 443}
#: Of pages; what else a link names by its ending is not asked for.
_NO_PAGE = re.compile(
    r"\.(7z|apk|avi|bmp|bz2|css|csv|docm?|docx|eot|exe|flac|flv|gif|gz|ico|iso|jar|jpe?g|js|json"
    r"|m4[av]|mid|mkv|mov|mp[34]|mpe?g|od[st]|og[gv]|otf|pdf|png|ppsx?|pptx?|ps|psd|rar|rss|rtf"
    r"|svg|swf|t?gz|tar|tiff?|ttf|wav|web[mp]|wm[av]|woff2?|xlsx?|xml|zip)$",
    re.IGNORECASE,
)


def address(link: str, base: str = "") -> str | None:
    """Where a link on the page ``base`` leads, without fragment and session id; None where it is
    nothing to ask for by HTTP.
    """
    try:
        parts = urlsplit(urljoin(base, link.strip()) if base else link.strip())
        port = parts.port
    except ValueError:
        return None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    if scheme not in _PORTS or not _is_host(host):
        return None
    named = f"[{host}]" if ":" in host else host
    place = named if port in (None, _PORTS[scheme]) else f"{named}:{port}"
    path = quote(_IN_PATH.sub("", parts.path) or "/", safe=_KEPT)
    pairs = [pair for pair in parts.query.split("&") if pair and not _SESSION.fullmatch(pair)]
    return urlunsplit((scheme, place, path, quote("&".join(pairs), safe=_KEPT), ""))


def _is_host(name: str) -> bool:
    """None of its labels is empty or too long, so that it can be looked up (RFC 1035)."""
    try:
        return bool(name.encode("idna"))
    except UnicodeError:
        return False


def key(url: str) -> str:
    """The same for the same page: parameters may stand in any order."""
    plain, _, query = url.partition("?")
    return f"{plain}?{'&'.join(sorted(query.split('&')))}" if query else plain


def domain_of(url: str) -> str:
    """Empty where there is none."""
    return (urlsplit(url).hostname or "").removeprefix("www.")


def is_within(url: str, domain: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == domain or host.endswith(f".{domain}")


def is_local(url: str) -> bool:
    """Return whether a URL names this machine or a network that is not the internet.

    Names are not looked up.
    """
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            address = ipaddress.ip_address(socket.inet_aton(host))  # such as 127.1
        except OSError:
            return "." not in host or host.endswith(_LOCAL_NAMES)
    return not (getattr(address, "ipv4_mapped", None) or address).is_global


def is_sane(url: str, limits: Limits) -> bool:
    """It is not too long, does not go round, and does not end as files do that are no pages."""
    path = urlsplit(url).path
    parts = [part for part in path.split("/") if part]
    return (
        len(url) <= limits.url
        and max(Counter(parts).values(), default=0) <= limits.repeats
        and _NO_PAGE.search(path) is None
    )


def without_sessions(html: str) -> str:
    """What changes with every visit is no change of a page."""
    return _SESSION.sub("", html)
