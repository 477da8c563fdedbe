"""Find messages that show internals of programs."""

import re
from collections.abc import Iterable

#: Parts of messages that show internals: Python values and classes, tracebacks, error numbers,
#: messages without words, truncated addresses.
_INSIDES = re.compile(
    r"(?:^|\s)\.\.(?=[\s:,;]|$)|\bobject at 0x|\[Errno|Traceback|\berror: \d+\s*$|^\d+$|^\W*$"
    r"|\bNone\b|NoneType|\bdict\b|Commented(?:Map|Seq)|_[0-9a-f]{20,}|<(?:class|module|function)|"
    r"\b\w+(?:Error|Exception)\b|file:///"
)


def find_messages_with_internals(messages: Iterable[str]) -> list[str]:
    return [message for message in messages if _INSIDES.search(message)]
