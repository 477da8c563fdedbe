"""What a step asks of people: said by the template."""

import operator
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from sluice.contracts.base import Contract, absent
from sluice.contracts.wording import Spelling, in_words

MOST_ANSWERS, MOST_AGREE, MOST_LINK_DAYS = 9, 9, 366
#: What a person may answer: a word, for a key and for the file.
AnswerName = Annotated[
    str,
    Field(min_length=1, max_length=40, pattern=r"^[^\x00-\x1f\x7f]+$"),
    Spelling(
        "an answer",
        first=r"[^\x00-\x1f\x7f]",
        other=r"[^\x00-\x1f\x7f]",
        most=40,
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
    Spelling(
        "a language",
        first="[a-zA-Z]",
        other="[a-zA-Z0-9-]",
        most=35,
        rule="is a tag such as pl, en or pt-BR",
    ),
]


class Show(StrEnum):
    """How an item is shown."""

    TEXT = "text"  #: with a marked place, where it has one
    HTML = "html"  #: without what could run, load or lead away
    IMAGE = "image"  #: with a box, where it has one


def _show(given: Any) -> Show:
    """Also where nothing else is taken for what it is not."""
    if isinstance(given, str) and given in list(Show):
        return Show(given)
    raise in_words("it is text, html or image")


class Ask(Contract):
    """What people are asked of each entry. ``agree``: so many have to answer the same. ``gold``:
    the Operation's port that gets a file of items whose answers are known (JSON Lines, each an item
    with ``answer``), of which every ``gold_every``-th shown is one. ``link``: days for which a link
    may open the page to whoever has it, without signing in; None: only to who is signed in.
    ``instructions``: shown first; ``help``: whenever it is asked for. ``language``: of the texts
    here, and of the page around them where it has that language. ``labels``: what the buttons say;
    files keep the answer's own name."""

    question: Annotated[str, Field(min_length=1, max_length=300)]
    answers: Annotated[
        list[AnswerName],
        Field(min_length=2, max_length=MOST_ANSWERS),
        AfterValidator(_each_once),
    ] = Field(default_factory=lambda: ["yes", "no"])
    show: Annotated[Show, BeforeValidator(_show)] = Show.TEXT
    agree: Annotated[int, Field(ge=1, le=MOST_AGREE)] = 2
    undo: bool = True
    gold: Annotated[str | None, Field(exclude_if=absent)] = None
    gold_every: Annotated[int, Field(ge=2, le=1000)] = 10
    link: Annotated[
        Annotated[int, Field(ge=1, le=MOST_LINK_DAYS)] | None, Field(exclude_if=absent)
    ] = None
    instructions: Annotated[str, Field(max_length=10_000)] = ""
    help: Annotated[str, Field(max_length=10_000)] = ""
    language: Annotated[LanguageTag | None, Field(exclude_if=absent)] = None
    labels: Annotated[dict[AnswerName, AnswerName], Field(exclude_if=operator.not_)] = Field(
        default_factory=dict
    )
