"""Sessions of people in their browsers: a cookie has a random secret, and nothing else."""

from datetime import timedelta
from http.cookies import CookieError, SimpleCookie

from sluice.servicekit.access.people import People
from sluice.servicekit.access.principal import Person

#: How long a session lasts at most.
LIFE = timedelta(days=7)


class Sessions:
    """``name``: of the cookie; systems at other ports of a host have others. ``secure``: browsers
    are to send it by TLS alone; else where it is given by TLS."""

    def __init__(self, people: People, name: str, *, secure: bool = False) -> None:
        self._people = people
        self._name = name
        self._secure = secure

    async def begin(self, person: Person, cookies: str, *, secure: bool, token: str = "") -> str:
        """A ``Set-Cookie`` header. A session that the browser has already ends. ``token``: by which
        he is known."""
        begun = await self._people.begin_session(person, token=token)
        return await self._instead(begun, cookies, secure=secure)

    async def begin_with_password(
        self, name: str, password: str, cookies: str, *, secure: bool
    ) -> str:
        """The same. Raises ``Unauthenticated``, ``TooManyTries``."""
        begun = await self._people.session_with_password(name, password)
        return await self._instead(begun, cookies, secure=secure)

    async def end(self, cookies: str, *, secure: bool) -> str:
        """A ``Set-Cookie`` header that takes the session away, which is over."""
        await self._end(cookies)
        return self._cookie("", timedelta(0), secure)

    async def person(self, cookies: str) -> Person | None:
        """``cookies``: the ``Cookie`` header. None: nobody's session, or one that is over."""
        secret = self._secret(cookies)
        return await self._people.in_session(secret) if secret else None

    async def _instead(self, begun: str, cookies: str, *, secure: bool) -> str:
        await self._end(cookies)
        return self._cookie(begun, LIFE, secure)

    async def _end(self, cookies: str) -> None:
        if secret := self._secret(cookies):
            await self._people.end_session(secret)

    def _secret(self, cookies: str) -> str:
        """Empty: there is none."""
        try:
            return SimpleCookie(cookies)[self._name].value
        except (CookieError, KeyError):
            return ""

    def _cookie(self, value: str, life: timedelta, secure: bool) -> str:
        cookie = SimpleCookie({self._name: value})
        attributes = cookie[self._name]
        attributes["path"], attributes["samesite"], attributes["httponly"] = "/", "Lax", True
        attributes["max-age"] = int(life.total_seconds())
        if secure or self._secure:
            attributes["secure"] = True
        return cookie[self._name].OutputString()
