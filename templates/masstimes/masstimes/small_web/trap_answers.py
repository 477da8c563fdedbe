"""The answers of the crawler traps."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from itertools import count, permutations

from masstimes.small_web.asgi import Exchange
from masstimes.small_web.traps import PLACE, Trap

#: The declared size of a huge page, one part of it, and the unpacked size of a bomb, in bytes.
HUGE = 10 * 2**30
_PART = b"<p>" + b"a" * 65000 + b"</p>"
_BOMB = 200 * 2**20
#: Seconds between two bytes of a dripping answer.
_DROP = 0.5
#: The number of cookies of one answer.
_COOKIES = 3000

_HTML = ("content-type", "text/html; charset=utf-8")
_ids = count(1)


async def answer_trap(trap: Trap, request: Exchange) -> None:
    """Answer a request to a trap, or leave it without an answer."""
    await _ANSWERS[trap](request)


def _links(*targets: str) -> str:
    return "".join(f"<a href='{target}'>Dalej {target[:40]}</a>\n" for target in targets)


async def _calendar(request: Exchange) -> None:
    year, month = (int(request.parameter(name) or 1) for name in ("rok", "miesiac"))
    days = [f"?rok={year}&miesiac={month}&dzien={day}" for day in range(1, 29)]
    months = [f"?rok={year + by}&miesiac={month % 12 + 1}" for by in (-1, 0, 1)]
    await request.page(f"<h1>Kalendarz</h1><p>msza 17:00</p>{_links(*months, *days)}")


async def _session(request: Exchange) -> None:
    """Send one of five pages, with a new session id in its links."""
    number = next(_ids)
    pages = [f"strona-{page}.html?PHPSESSID={number:032x}" for page in range(1, 5)]
    pages.append(f"strona-5.html;jsessionid={number:032x}")
    await request.page(f"<h1>{request.path}</h1>{_links(*pages)}")


async def _permutations(request: Exchange) -> None:
    """Send one gallery, with links for every order of its parameters."""
    pairs = [f"{name}={request.parameter(name) or '1'}" for name in ("sort", "dir", "foto", "page")]
    orders = ["?" + "&".join(order) for order in permutations(pairs)]
    await request.page(f"<h1>Galeria</h1>{_links(*orders)}")


async def _circle(request: Exchange) -> None:
    target = "b.html" if request.path.endswith("a.html") else "a.html"
    await request.answer(302, headers=[("location", target)])


async def _elsewhere(request: Exchange) -> None:
    port = request.headers["host"].rpartition(":")[2]
    await request.answer(301, headers=[("location", f"http://127.9.9.9:{port}/")])


async def _huge(request: Exchange) -> None:
    await request.start(200, [_HTML, ("content-length", str(HUGE))])
    await _pour(request, HUGE)


async def _endless(request: Exchange) -> None:
    """Send as much as a huge page, without declaring its size."""
    await request.start(200, [_HTML])
    await _pour(request, HUGE)


async def _pour(request: Exchange, size: int) -> None:
    disconnect = asyncio.create_task(request.wait_for_disconnect())
    while size > 0 and not disconnect.done():
        await request.part(_PART[:size])
        size -= len(_PART)
        await asyncio.sleep(0)
    disconnect.cancel()


async def _bomb(request: Exchange) -> None:
    packer, part = zlib.compressobj(wbits=31), bytes(2**20)
    await request.start(200, [_HTML, ("content-encoding", "gzip")])
    await request.part(packer.compress(b"<html><body>" + b"a" * 2000))
    for _ in range(_BOMB // len(part)):
        if packed := packer.compress(part):
            await request.part(packed)
        await asyncio.sleep(0)
    await request.part(packer.flush(), more=False)


async def _silent(request: Exchange) -> None:
    await request.wait_for_disconnect()


async def _drip(request: Exchange) -> None:
    await request.start(200, [_HTML])
    disconnect = asyncio.create_task(request.wait_for_disconnect())
    while not disconnect.done():
        await request.part(b"x")
        await asyncio.wait([disconnect], timeout=_DROP)


async def _long_line(request: Exchange) -> None:
    await request.page(f"<p>{'msza 7:00 ' * 100_000}</p>")


async def _cookies(request: Exchange) -> None:
    cookies = [("set-cookie", f"ciastko{number}={'x' * 40}") for number in range(_COOKIES)]
    await request.page("<p>ciastka</p>" + _links("wiecej.html"), cookies)


async def _deeper(request: Exchange) -> None:
    """Send links without a leading slash."""
    await request.page(_links("index.html/glebiej/index.html", "dalej/"))


async def _errors(request: Exchange) -> None:
    if request.path.endswith("index.html"):
        await request.page(_links("404.html", "500.html", "403.html"))
        return
    await request.answer(int(request.path[-8:-5]), b"<h1>error</h1>", [_HTML])


async def _robots(request: Exchange) -> None:
    """Send links, of which the site's robots.txt forbids those below ``prywatne``."""
    links = (f"{PLACE}robots/prywatne/1.html", f"{PLACE}robots/jawne.html")
    await request.page("<p>robots</p>" + _links(*links))


async def _pdf(request: Exchange) -> None:
    body = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n" + zlib.compress(bytes(range(256)) * 40)
    await request.answer(200, body, [_HTML])


async def _picture(request: Exchange) -> None:
    body = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)) * 40
    await request.answer(200, body, [_HTML])


async def _long_url(request: Exchange) -> None:
    await request.page(_links("dalej-" + "x" * 3000, f"{request.path}dalej/{'y' * 1000}/"))


_ANSWERS: dict[Trap, Callable[[Exchange], Awaitable[None]]] = {
    Trap.CALENDAR: _calendar,
    Trap.SESSION: _session,
    Trap.PERMUTATIONS: _permutations,
    Trap.CIRCLE: _circle,
    Trap.ELSEWHERE: _elsewhere,
    Trap.HUGE: _huge,
    Trap.ENDLESS: _endless,
    Trap.BOMB: _bomb,
    Trap.SILENT: _silent,
    Trap.DRIP: _drip,
    Trap.LONG_LINE: _long_line,
    Trap.COOKIES: _cookies,
    Trap.DEEPER: _deeper,
    Trap.ERRORS: _errors,
    Trap.ROBOTS: _robots,
    Trap.PDF: _pdf,
    Trap.PICTURE: _picture,
    Trap.LONG_URL: _long_url,
}
