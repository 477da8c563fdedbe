"""Errors about values, in words.

The messages of pydantic would show the regular expression that a value does not match.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import GetCoreSchemaHandler, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError, core_schema

from sluice.text.visible_text import escaped, quoted

#: The type of errors of ``in_words``, which are whole sentences that repeat the value if
#: needed.
IN_WORDS = "in_words"
#: Characters of a wrong word that are compared with known names.
_COMPARED = 60
#: Types of errors of pydantic about a uid.
_UIDS = ("uuid_parsing", "uuid_type")
#: The form of a uid in words.
A_UID = "uid, 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12"
#: The singular of a part of a path, where it is irregular.
_NOUNS = {
    "datasets": "data set",
    "unmatched": "unmatched data set",
    "people": "person",
    "dead": "dead letter",
}
#: Characters of names in a regular expression, and in words. ``A-Za-z`` comes before ``a-z``, which
#: is a part of it.
_CHARACTERS = {
    "A-Za-z": "letters (A to Z, a to z)",
    "a-z": "small letters (a to z)",
    "0-9": "digits",
    " ": "blanks",
}
#: First characters of names in a regular expression, and in words.
_BEGINNINGS = {"a-z": "letter", "0-9": "digit", "_": "_"}
#: Names that a sentence lists before the number of the others.
_MAX_NAMES = 2


def in_words(sentence: str) -> PydanticCustomError:
    """Return a ``ValueError`` for validators whose message pydantic does not change."""
    return PydanticCustomError(IN_WORDS, "{sentence}", {"sentence": sentence})


@dataclass(frozen=True, slots=True)
class StringRule:
    """The annotation of a ``str``, after its constraints, with the text of all their errors.

    Attributes:
        a_thing: The name of the value, with its article.
        first: A regular expression of the first character.
        other: A regular expression of each character.
        max_length: The most characters.
        rule: The rest of a sentence that begins with ``a_thing`` and states these constraints.
        pattern: A regular expression of the whole value. None means that constraints before the
            rule have it.
    """

    a_thing: str
    first: str
    other: str
    max_length: int
    rule: str
    pattern: str | None = None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Return the schema with the error of the rule.

        A custom error of pydantic costs nothing for valid values.
        """
        kind = self.a_thing.replace(" ", "_").replace("'", "")
        _RULES[kind] = self
        message = f"{self.a_thing} {self.rule}"
        schema = (
            handler(source)
            if self.pattern is None
            else core_schema.str_schema(pattern=self.pattern)
        )
        return core_schema.custom_error_schema(
            schema, custom_error_type=kind, custom_error_message=message
        )

    def matches(self, text: str) -> bool:
        """Return whether a text has the pattern of the rule."""
        return self.pattern is None or re.fullmatch(self.pattern, text) is not None

    def describe_error(self, text: str) -> str:
        """Return what is wrong with an invalid text."""
        quotation = quoted(text)
        odd = re.sub(self.other, "", text)
        if not text:
            what = "it is empty"
        elif not re.match(self.first, text):
            what = f"{quotation} begins with {quoted(text[0])}"
        elif odd:
            what = f"{quotation} has {quoted(odd[0])}"
        elif len(text) > self.max_length:
            what = f"{quotation} has {len(text)} characters"
        else:
            what = f"{quotation} is not {self.a_thing}"
        return f"{what}: {self.a_thing} {self.rule}"


#: Rules by type of error.
_RULES: dict[str, StringRule] = {}


def name_rule(a_thing: str, *, first: str, other: str, max_length: int) -> StringRule:
    """Return the rule of a name, with its pattern and its sentence.

    Args:
        a_thing: The name of the value, with its article.
        first: The characters that a name may begin with, as in a regular expression between
            brackets: ``A-Za-z`` or ``a-z``, ``0-9``, and ``_``, in this order.
        other: The characters of a name in the same notation: the ranges, and any signs.
        max_length: The maximum number of characters.
    """
    signs, kinds = other, []
    for characters, words in _CHARACTERS.items():
        if characters in signs:
            signs = signs.replace(characters, "")
            kinds.append(words)
    *others, last = [word for characters, word in _BEGINNINGS.items() if characters in first]
    beginning = f"{', '.join(others)} or {last}" if others else last
    return StringRule(
        a_thing,
        first=f"[{first}]",
        other=f"[{other}]",
        max_length=max_length,
        rule=(
            f"has {', '.join(kinds)} and {signs} only, at most {max_length}, and begins with a"
            f" {beginning}"
        ),
        pattern=f"^[{first}][{other}]{{0,{max_length - 1}}}$",
    )


def in_parentheses(names: Sequence[str]) -> str:
    """Return the first names as in `` (a, b and 998 more)``, or an empty text for none."""
    if not names:
        return ""
    others = len(names) - _MAX_NAMES
    more = f" and {others} more" if others > 0 else ""
    return f" ({', '.join(map(escaped, names[:_MAX_NAMES]))}{more})"


def singular_noun(part: str) -> str:
    """Return the word for one object below a part of a path: ``chain`` for ``chains``."""
    return _NOUNS.get(part) or part.removesuffix("s").replace("-", " ")


def did_you_mean(word: str, known_names: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` with the most similar known name, or an empty text."""
    close = get_close_matches(word[:_COMPARED], list(dict.fromkeys(known_names)), n=1)
    return f" (did you mean {quoted(close[0])}?)" if close else ""


def validation_sentence(error: ErrorDetails) -> str:
    """Return an error of pydantic as a sentence, without pydantic's own prefix.

    For a value with a ``StringRule``, the sentence says what is wrong in it.
    """
    rule, value = _RULES.get(error["type"]), error.get("input")
    if rule is not None and isinstance(value, str):
        return rule.describe_error(value)
    if error["type"] in _UIDS:
        return f"{quoted(value) if 'input' in error else 'it'} is not a uid: give the {A_UID}"
    return error["msg"].removeprefix("Value error, ").partition(", unable to parse")[0]


def first_fault(error: ValidationError) -> str:
    """Return the first error of pydantic and its place, in one line."""
    fault = error.errors(include_url=False)[0]
    place = ".".join(map(str, fault["loc"]))
    return f"{place}: {validation_sentence(fault)}" if place else validation_sentence(fault)


def names_value(error: ErrorDetails) -> bool:
    """Return whether the sentence of ``validation_sentence`` repeats the value."""
    return error["type"] == IN_WORDS or error["type"] in _UIDS or error["type"] in _RULES
