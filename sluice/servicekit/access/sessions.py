"""Sessions of people in their browsers: a signed cookie says who it is."""

import hashlib
from datetime import timedelta
from http.cookies import CookieError, SimpleCookie

from itsdangerous import BadData, URLSafeTimedSerializer

from sluice.contracts.access import Role
from sluice.servicekit.access.principal import Person

#: How long a session lasts at most.
_LIFE = timedelta(days=7)


class Sessions:
    """``key``: that signs them. Systems at other ports of a host have cookies of other names."""

    def __init__(self, key: str) -> None:
        self._signer = URLSafeTimedSerializer(key, salt="sluice.session")
        self._name = f"sluice_person_{hashlib.sha256(key.encode()).hexdigest()[:8]}"

    def begin(self, person: Person, *, secure: bool) -> str:
        """A ``Set-Cookie`` header. ``secure``: the browser is to send it by TLS alone."""
        return self._cookie(str(self._signer.dumps([person.name, person.role])), _LIFE, secure)

    def end(self, *, secure: bool) -> str:
        """A ``Set-Cookie`` header that takes the session away."""
        return self._cookie("", timedelta(0), secure)

    def person(self, cookies: str) -> Person | None:
        """``cookies``: the ``Cookie`` header. None: nobody's session, or one that is over."""
        try:
            given = SimpleCookie(cookies)[self._name].value
            name, role = self._signer.loads(given, max_age=int(_LIFE.total_seconds()))
            return Person(str(name), Role(role))
        except (CookieError, KeyError, BadData, ValueError, TypeError):
            return None

    def _cookie(self, value: str, life: timedelta, secure: bool) -> str:
        cookie = SimpleCookie({self._name: value})
        attributes = cookie[self._name]
        attributes["path"], attributes["samesite"], attributes["httponly"] = "/", "Lax", True
        attributes["max-age"] = int(life.total_seconds())
        if secure:
            attributes["secure"] = True
        return cookie[self._name].OutputString()
