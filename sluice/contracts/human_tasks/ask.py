"""Human tasks: what a template asks annotators."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from sluice.contracts.common.base import Contract
from sluice.contracts.common.wording import StringRule, in_words

MAX_ANSWERS, MAX_AGREE, MAX_LINK_DAYS = 9, 9, 366
#: The name of an answer that a person may give. A key selects it, and the file contains it.
AnswerName = Annotated[
    str,
    Field(min_length=1, max_length=40, pattern=r"^[^\x00-\x1f\x7f]+$"),
    StringRule(
        "an answer",
        first=r"[^\x00-\x1f\x7f]",
        other=r"[^\x00-\x1f\x7f]",
        max_length=40,
        rule="is 1 to 40 characters, without control characters (tab, newline)",
    ),
]


def _each_once(answers: list[str]) -> list[str]:
    if len({answer.casefold() for answer in answers}) < len(answers):
        raise in_words("each stands once")
    return answers


#: A language tag, such as pl or pt-BR (BCP 47).
LanguageTag = Annotated[
    str,
    Field(max_length=35, pattern=r"^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{1,8})*$"),
    StringRule(
        "a language",
        first="[a-zA-Z]",
        other="[a-zA-Z0-9-]",
        max_length=35,
        rule="is a tag such as pl, en or pt-BR",
    ),
]


class Show(StrEnum):
    """How the page shows an item."""

    TEXT = "text"  #: with a marked place, where it has one
    HTML = "html"  #: without what could run, load or lead away
    IMAGE = "image"  #: with a box, where it has one


def _show(value: Any) -> Show:
    """Return the way to show an item, or raise an error that names the possible values."""
    if isinstance(value, str) and value in list(Show):
        return Show(value)
    raise in_words("it is text, html or image")


class Ask(Contract):
    """The question that annotators answer for each item.

    Attributes:
        agree: The number of equal answers that decide an item.
        gold: The port that gets a file of gold items: JSON Lines, each an item with its ``answer``.
        gold_every: One of this many shown items is a gold item.
        link: The number of days for which a link may open the page without sign-in. None means that
            annotators must sign in.
        instructions: The text that is shown first.
        help: The text that is shown on request.
        language: The language of these texts, and of the page if the page is available in it.
        labels: The texts of the buttons. Files keep the name of the answer.
    """

    question: Annotated[str, Field(min_length=1, max_length=300)]
    answers: Annotated[
        list[AnswerName],
        Field(min_length=2, max_length=MAX_ANSWERS),
        AfterValidator(_each_once),
    ] = Field(default_factory=lambda: ["yes", "no"])
    show: Annotated[Show, BeforeValidator(_show)] = Show.TEXT
    agree: Annotated[int, Field(ge=1, le=MAX_AGREE)] = 2
    undo: bool = True
    gold: str | None = None
    gold_every: Annotated[int, Field(ge=2, le=1000)] = 10
    link: Annotated[int, Field(ge=1, le=MAX_LINK_DAYS)] | None = None
    instructions: Annotated[str, Field(max_length=10_000)] = ""
    help: Annotated[str, Field(max_length=10_000)] = ""
    language: LanguageTag | None = None
    labels: dict[AnswerName, AnswerName] = Field(default_factory=dict)
