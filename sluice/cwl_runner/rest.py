"""A client of the REST API for commands that must start quickly; it imports nothing slow."""

import http.client
import json
from base64 import b64encode
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlencode, urljoin, urlsplit

from sluice.network.credentials import headers_for
from sluice.network.proxies import (
    UnusableProxy,
    direct_connection_note,
    proxy_for,
    without_password,
)
from sluice.network.unknown_routes import is_unknown_route, too_old_text
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

_TIMEOUT = 60.0
_HTTPS_PORT = 443
#: The media types of answers, and their names in messages.
_MEDIA_NAMES = {"application/json": "JSON", "text/plain": "plain text"}


class RequestRefusedError(Exception):
    """The system answered with a problem; ``str()`` is its sentence.

    ``status`` is the HTTP status. After 503 a later request may succeed.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class _ResponseObject(dict[str, Any]):
    """A JSON object of an answer. A missing key means that another program has answered."""

    def __missing__(self, key: str) -> Any:
        raise ConnectionError(
            f"an answer has no field {quoted(key)}: check the address, and whether another program"
            " or another version of Sluice answers"
        )


class RestConnection:
    """A connection that is kept, and opened again after the system has closed it."""

    def __init__(self, url: str) -> None:
        """Prepare the connection, which the first request opens.

        Raises:
            UnusableProxy: The proxy for ``url`` is not an HTTP proxy.
        """
        self.url = url
        parts = urlsplit(url)
        self._connection = _connection(url)
        self._root = f"{parts.path.rstrip('/')}/api/v1"
        self._headers = {"Accept": "application/json", **headers_for(url)}

    def get(self, path: str, **query: Any) -> Any:
        """Send a GET request, without the arguments that are None, and return the answer.

        Raises:
            RequestRefusedError: The system refuses the request.
            OSError: The system cannot be reached, or its answer is not the JSON of Sluice. An
                access to a missing field of the answer raises it too.
        """
        parameters = {key: value for key, value in query.items() if value is not None}
        return self._send("GET", f"{path}?{urlencode(parameters)}" if parameters else path, None)

    def text(self, path: str) -> str:
        """Return an answer that is plain text. Bytes that are not UTF-8 are replaced.

        Raises:
            RequestRefusedError: The system refuses the request.
            OSError: The system cannot be reached, or its answer is not plain text.
        """
        return str(self._send("GET", path, None, media="text/plain"))

    def post(self, path: str, body: Any) -> Any:
        """Send a POST request and return the answer."""
        return self._send("POST", path, body)

    def put(self, path: str, body: Any) -> Any:
        """Send a PUT request and return the answer."""
        return self._send("PUT", path, body)

    def delete(self, path: str, **query: Any) -> Any:
        """Send a DELETE request and return the answer."""
        return self._send("DELETE", f"{path}?{urlencode(query)}", None)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _send(self, method: str, path: str, body: Any, *, media: str = "application/json") -> Any:
        content = None if body is None else json.dumps(body).encode()
        try:
            try:
                response, text = self._exchange(method, path, content)
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                # The system has closed the idle connection.
                self._connection.close()
                response, text = self._exchange(method, path, content)
        except (http.client.HTTPException, OSError) as error:
            self._connection.close()
            raise ConnectionError(
                f"the system at {self.url} cannot be reached: {_describe_error(error)}"
                f"{direct_connection_note(self.url)}"
            ) from error
        except BaseException:  # an interrupt leaves an answer unread
            self._connection.close()
            raise
        route = f"{self._root}{path.partition('?')[0]}"
        unexpected = (
            f"{method} {urljoin(self.url, route)} was answered with status {response.status} and a"
            f" body that is not {_MEDIA_NAMES[media]}: check the address, and whether a proxy"
            " (https_proxy, no_proxy) or a sign-in page answers in place of Sluice"
        )
        if response.status >= HTTPStatus.BAD_REQUEST:
            too_old = too_old_text(self.url, method, route)
            detail = _problem_text(response, text, too_old=too_old, unexpected_answer=unexpected)
            raise RequestRefusedError(response.status, detail)
        if response.status == HTTPStatus.NO_CONTENT:
            return None
        if media == "text/plain":
            if response.headers.get_content_type() != media:
                raise ConnectionError(unexpected)
            return text.decode(errors="replace")
        try:
            return json.loads(text, object_hook=_ResponseObject)
        except (ValueError, RecursionError) as error:
            raise ConnectionError(unexpected) from error

    def _exchange(
        self, method: str, path: str, content: bytes | None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        content_headers = {} if content is None else {"Content-Type": "application/json"}
        self._connection.request(
            method, self._root + path, content, self._headers | content_headers
        )
        response = self._connection.getresponse()
        return response, response.read()


def _connection(url: str) -> http.client.HTTPConnection:
    """Return a connection to the server of ``url`` that is not open yet.

    Raises:
        UnusableProxy: The proxy for ``url`` is not an HTTP proxy.
    """
    parts = urlsplit(url)
    connection_class = (
        http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    )
    address = proxy_for(url)
    if address is None:
        return connection_class(parts.netloc, timeout=_TIMEOUT)
    proxy = urlsplit(address)
    if proxy.scheme != "http":
        raise UnusableProxy(
            f"the environment names the proxy {without_password(address)} for {url}, and"
            " `sluice cwl-runner` can use HTTP proxies only: name one in https_proxy, or name"
            f" {parts.hostname} in no_proxy"
        )
    connection = connection_class(proxy.hostname or "", proxy.port or 80, timeout=_TIMEOUT)
    connection.set_tunnel(
        parts.hostname or "",
        parts.port or _HTTPS_PORT,
        _proxy_login(proxy.username, proxy.password),
    )
    return connection


def _proxy_login(user: str | None, password: str | None) -> dict[str, str]:
    if user is None:
        return {}
    login = f"{unquote(user)}:{unquote(password or '')}".encode()
    return {"Proxy-Authorization": f"Basic {b64encode(login).decode()}"}


def _describe_error(error: http.client.HTTPException | OSError) -> str:
    """Return why there is no answer. ``http.client`` has no sentence for a broken answer."""
    match error:
        case http.client.RemoteDisconnected():
            return "it closes the connection without an answer"
        case http.client.IncompleteRead():
            return "it closes the connection within its answer"
        case http.client.HTTPException():
            return "its answer is not HTTP"
        case _:
            return reason_of(error)


def _problem_text(
    response: http.client.HTTPResponse, text: bytes, *, too_old: str, unexpected_answer: str
) -> str:
    """Return the sentence of an RFC 9457 problem.

    Returns:
        ``too_old`` if the system lacks the route, ``unexpected_answer`` if the answer is not JSON.
    """
    try:
        problem = json.loads(text)
        if is_unknown_route(response.status, problem.get("type", "about:blank")):
            return too_old
        return str(problem.get("detail") or problem["title"])
    except (ValueError, RecursionError):
        return unexpected_answer
    except (KeyError, AttributeError):
        return f"{response.status} {response.reason}"
