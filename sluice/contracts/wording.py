"""What is wrong with a value, in words: pydantic would show the regular expression that it does not
match."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import GetCoreSchemaHandler, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError, core_schema

from sluice.visible_text import quoted

#: Type of pydantic's errors that are whole sentences and name the value themselves.
IN_WORDS = "in_words"
#: Characters of a wrong word that are looked up.
_COMPARED = 60
#: Types of pydantic's errors about a uid.
_UIDS = ("uuid_parsing", "uuid_type")
#: What a uid is, in words.
A_UID = "uid, 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12"
#: Names that a sentence has before it counts the others.
_NAMED = 2


def in_words(sentence: str) -> PydanticCustomError:
    """To be raised by a check; a ``ValueError`` that is told without anything put before it."""
    return PydanticCustomError(IN_WORDS, "{sentence}", {"sentence": sentence})


@dataclass(frozen=True, slots=True)
class StringRule:
    """Annotates a ``str``, behind its constraints: whatever they find, this is said.

    ``a_thing``: what it is, with its article. ``first``, ``other``: expressions for the first
    character and for all; ``most``: how many there may be. ``rule``: all of that in words, the
    sentence that ``a_thing`` begins.
    """

    a_thing: str
    first: str
    other: str
    most: int
    rule: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """pydantic's own way to another error costs nothing where there is none."""
        kind = self.a_thing.replace(" ", "_").replace("'", "")
        _SPELLINGS[kind] = self
        message = f"{self.a_thing} {self.rule}"
        return core_schema.custom_error_schema(
            handler(source), custom_error_type=kind, custom_error_message=message
        )

    def wrong(self, text: str) -> str:
        """What is wrong with ``text``, which is."""
        shown = quoted(text)
        odd = re.sub(self.other, "", text)
        if not text:
            what = "it is empty"
        elif not re.match(self.first, text):
            what = f"{shown} begins with {quoted(text[0])}"
        elif odd:
            what = f"{shown} has {quoted(odd[0])}"
        elif len(text) > self.most:
            what = f"{shown} has {len(text)} characters"
        else:
            what = f"{shown} is not {self.a_thing}"
        return f"{what}: {self.a_thing} {self.rule}"


#: By type of error.
_SPELLINGS: dict[str, StringRule] = {}


def in_parentheses(names: Sequence[str]) -> str:
    """Return the first names in parentheses, as in `` (a, b and 998 more)``; empty for none."""
    if not names:
        return ""
    others = len(names) - _NAMED
    more = f" and {others} more" if others > 0 else ""
    return f" ({', '.join(names[:_NAMED])}{more})"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` with the known name that is most alike, or an empty text."""
    close = get_close_matches(word[:_COMPARED], list(dict.fromkeys(known)), n=1)
    return f" (did you mean {quoted(close[0])}?)" if close else ""


def sentence_of(error: ErrorDetails) -> str:
    """What pydantic found: without its own way to say that somebody raised it, and with the
    character that is wrong in a name."""
    spelling, given = _SPELLINGS.get(error["type"]), error.get("input")
    if spelling is not None and isinstance(given, str):
        return spelling.wrong(given)
    if error["type"] in _UIDS:
        return f"{quoted(given) if 'input' in error else 'it'} is no uid: give the {A_UID}"
    return error["msg"].removeprefix("Value error, ").partition(", unable to parse")[0]


def first_fault(error: ValidationError) -> str:
    """Return what pydantic found first and where, in one line."""
    fault = error.errors(include_url=False)[0]
    place = ".".join(map(str, fault["loc"]))
    return f"{place}: {sentence_of(fault)}" if place else sentence_of(fault)


def names_value(error: ErrorDetails) -> bool:
    """Does ``sentence_of`` repeat the value?"""
    return error["type"] == IN_WORDS or error["type"] in _UIDS or error["type"] in _SPELLINGS
