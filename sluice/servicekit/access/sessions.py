"""Browser sessions of people. The cookie holds only a random secret."""

from datetime import timedelta
from http.cookies import CookieError, SimpleCookie

from sluice.servicekit.access.people import People
from sluice.servicekit.access.principal import Person

#: The maximum lifetime of a session.
LIFE = timedelta(days=7)


class Sessions:
    """The sessions that one cookie identifies.

    Systems on other ports of the host need other cookie names.
    """

    def __init__(self, people: People, name: str, *, secure: bool = False) -> None:
        """Set up the sessions.

        Args:
            people: The accounts.
            name: The name of the cookie.
            secure: Whether browsers send the cookie only over TLS. A cookie that is set over TLS
                always is.
        """
        self._people = people
        self._name = name
        self._secure = secure

    async def begin(self, person: Person, cookies: str, *, secure: bool, token: str = "") -> str:
        """Begin a session, end the browser's previous one and return a ``Set-Cookie`` header.

        Args:
            person: The person who has signed in.
            cookies: The ``Cookie`` header of the request.
            secure: Whether the request came over TLS.
            token: The token that authenticated the person.
        """
        secret = await self._people.begin_session(person, token=token)
        return await self._replace_cookie(secret, cookies, secure=secure)

    async def begin_with_password(
        self, name: str, password: str, cookies: str, *, secure: bool
    ) -> str:
        """Begin a session with a password and return a ``Set-Cookie`` header.

        Raises:
            Unauthenticated: The name or the password is wrong.
            TooManySignInAttempts: Too many sign-ins have failed.
        """
        secret = await self._people.session_with_password(name, password)
        return await self._replace_cookie(secret, cookies, secure=secure)

    async def end(self, cookies: str, *, secure: bool) -> str:
        """End the session and return a ``Set-Cookie`` header that removes the cookie."""
        await self._end(cookies)
        return self._cookie("", timedelta(0), secure)

    async def person(self, cookies: str) -> Person | None:
        """Return the person of the session in a ``Cookie`` header, or None."""
        secret = self._secret(cookies)
        return await self._people.in_session(secret) if secret else None

    async def _replace_cookie(self, secret: str, cookies: str, *, secure: bool) -> str:
        await self._end(cookies)
        return self._cookie(secret, LIFE, secure)

    async def _end(self, cookies: str) -> None:
        if secret := self._secret(cookies):
            await self._people.end_session(secret)

    def _secret(self, cookies: str) -> str:
        """Return the secret of the session cookie, or an empty string without one."""
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
