"""Conditions on data sets and parameters (``sluice:match``, ``sluice:require``)."""

from typing import Annotated, Literal

from pydantic import Field

from sluice.contracts.common.base import Contract, tag


class Equals(Contract):
    """The condition that a value equals another.

    Attributes:
        value: The other value.
    """

    kind: Literal["equals"] = tag("equals")
    value: str | int | float | bool | None


class OneOf(Contract):
    """The condition that a value is one of several.

    Attributes:
        values: The accepted values.
    """

    kind: Literal["one_of"] = tag("one_of")
    values: list[str | int | float | bool]


class Between(Contract):
    """The condition that a value is in a range, bounds included.

    Attributes:
        minimum: The lower bound. None means that there is no bound.
        maximum: The upper bound. None means that there is no bound.
    """

    kind: Literal["between"] = tag("between")
    minimum: float | None = None
    maximum: float | None = None


class Glob(Contract):
    """The condition that a text matches a shell pattern, case-sensitive."""

    kind: Literal["glob"] = tag("glob")
    pattern: str


Condition = Annotated[Equals | OneOf | Between | Glob, Field(discriminator="kind")]


class Require(Contract):
    """Conditions of a new chain: on size and metadata of the data set, and on parameters."""

    files: Condition | None = None
    bytes: Condition | None = None
    meta: dict[str, Condition] = Field(default_factory=dict)
    parameters: dict[str, Condition] = Field(default_factory=dict)
