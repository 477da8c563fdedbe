"""Addresses: equality, membership of a site, and detection of crawler traps."""

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
_SESSION_IN_PATH = re.compile(rf";(?:{_SESSIONS})=[^/?#;]*", re.IGNORECASE)
_SAFE_CHARACTERS = "/%:=&?~+!$,;'@()*[]-._"
_LOCAL_NAMES = (".localhost", ".local", ".internal")
_PORTS = {"http": 80, "https": 443}
#: File extensions that are not requested, because they are no pages.
_OTHER_FILE = re.compile(
    r"\.(7z|apk|avi|bmp|bz2|css|csv|docm?|docx|eot|exe|flac|flv|gif|gz|ico|iso|jar|jpe?g|js|json"
    r"|m4[av]|mid|mkv|mov|mp[34]|mpe?g|od[st]|og[gv]|otf|pdf|png|ppsx?|pptx?|ps|psd|rar|rss|rtf"
    r"|svg|swf|t?gz|tar|tiff?|ttf|wav|web[mp]|wm[av]|woff2?|xlsx?|xml|zip)$",
    re.IGNORECASE,
)


def normalise_address(link: str, base: str = "") -> str | None:
    """Return the address of a link on the page ``base``, without fragment and session id.

    Links that are not HTTP, or not valid, give None.
    """
    try:
        parts = urlsplit(urljoin(base, link.strip()) if base else link.strip())
        port = parts.port
    except ValueError:
        return None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    if scheme not in _PORTS or not _is_host(host):
        return None
    host_name = f"[{host}]" if ":" in host else host
    netloc = host_name if port in (None, _PORTS[scheme]) else f"{host_name}:{port}"
    path = quote(_SESSION_IN_PATH.sub("", parts.path) or "/", safe=_SAFE_CHARACTERS)
    pairs = [pair for pair in parts.query.split("&") if pair and not _SESSION.fullmatch(pair)]
    return urlunsplit((scheme, netloc, path, quote("&".join(pairs), safe=_SAFE_CHARACTERS), ""))


def _is_host(name: str) -> bool:
    """Return whether no label is empty or too long, so that a lookup is possible (RFC 1035)."""
    try:
        return bool(name.encode("idna"))
    except UnicodeError:
        return False


def address_key(url: str) -> str:
    """Return a key that is equal for the same page, whatever the order of parameters."""
    plain, _, query = url.partition("?")
    return f"{plain}?{'&'.join(sorted(query.split('&')))}" if query else plain


def get_domain(url: str) -> str:
    """Return the host without ``www.``, or an empty text without a host."""
    return (urlsplit(url).hostname or "").removeprefix("www.")


def is_within(url: str, domain: str) -> bool:
    """Return whether an address is on a domain or its subdomains."""
    host = urlsplit(url).hostname or ""
    return host == domain or host.endswith(f".{domain}")


def is_local(url: str) -> bool:
    """Return whether a URL names this machine or a network that is not the internet.

    Names are not looked up.
    """
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        try:
            ip = ipaddress.ip_address(socket.inet_aton(host))  # such as 127.1
        except OSError:
            return "." not in host or host.endswith(_LOCAL_NAMES)
    return not (getattr(ip, "ipv4_mapped", None) or ip).is_global


def is_sane(url: str, limits: Limits) -> bool:
    """Return whether an address is worth a request.

    Too long addresses, addresses that repeat parts of their path, and files that are no pages are
    not.
    """
    path = urlsplit(url).path
    parts = [part for part in path.split("/") if part]
    return (
        len(url) <= limits.url
        and max(Counter(parts).values(), default=0) <= limits.repeats
        and _OTHER_FILE.search(path) is None
    )


def without_sessions(html: str) -> str:
    """Return HTML without session ids, which change with every visit."""
    return _SESSION.sub("", html)
