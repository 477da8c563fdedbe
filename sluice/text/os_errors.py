"""Reasons of errors in words. Python shows them with numbers, as in ``[Errno 2]``."""

import json
import os
import ssl

from sluice.text.sentences import lower_first
from sluice.text.visible_text import escaped, visible_line

#: Libraries whose errors have the cause in the errors before them.
_WRAPPING = ("httpx", "httpcore")
#: The most characters of a library's message.
_MAX_MESSAGE = 500


def reason_of(error: BaseException) -> str:
    """Return why a file, text or machine cannot be used, in one line and without its name."""
    if type(error).__module__.partition(".")[0] in _WRAPPING:
        error = _system_error(error) or error
    if isinstance(error, OSError) and (message := _system_reason(error)):
        return message
    if (place := _place_in_text(error)) is not None:
        return place
    message = " ".join(str(error).split())[:_MAX_MESSAGE]
    return visible_line(message) or type(error).__name__


def _system_error(error: BaseException | None) -> OSError | None:
    """Return the first error of the operating system among an error and its causes.

    Libraries can make a circle of contexts: each error is looked at once.
    """
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, OSError) and error.strerror is not None:
            return error
        error = error.__cause__ or error.__context__
    return None


def _system_reason(error: OSError) -> str | None:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if error.errno is not None and (error.strerror or "").startswith("Connect call failed"):
        return os.strerror(error.errno)
    return error.strerror


def _place_in_text(error: BaseException) -> str | None:
    """Return where a text is wrong, and why: JSON, YAML, or bytes that are not text."""
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {lower_first(error.msg)}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is not valid {error.encoding.upper()}"
    if isinstance(error, RecursionError):
        return "it has lists and objects too deep in others"
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    return mark and f"line {mark.line + 1}, column {mark.column + 1}: {problem}"


def os_error_sentence(error: OSError) -> str:
    """Return the name of the file, if there is one, and why it cannot be used."""
    if error.filename is None:
        return reason_of(error)
    names = (name for name in (error.filename, error.filename2) if name is not None)
    return f"{' to '.join(_escape_name(name) for name in names)}: {reason_of(error)}"


def _escape_name(name: object) -> str:
    return escaped(os.fsdecode(name) if isinstance(name, bytes) else str(name))
