"""The parameters of a chain that somebody asks for, and how their types are written."""

from typing import Any

from sluice.contracts.datasets import Dataset
from sluice.contracts.plan import Plan


def bound_parameters(plan: Plan, dataset: Dataset) -> dict[str, Any]:
    """Parameters that take their value from the data set; one whose key the data set does not have is left out."""
    own = {"name": dataset.name, "type": dataset.type.value, "period": dataset.period, "run": dataset.run}
    facts = {**{key: value for key, value in own.items() if value is not None}, **dataset.meta}
    return {parameter: facts[key] for parameter, key in plan.bind.items() if facts.get(key) is not None}


def type_name(kind: Any) -> str:
    """A CWL type as people write it: ``int?``, ``string[]``, ``low | high``."""
    match kind:
        case ["null", one] | [one, "null"]:
            name = f"{type_name(one)}?"
        case list():
            name = " | ".join(type_name(one) for one in kind)
        case {"type": "array", "items": items}:
            name = f"{type_name(items)}[]"
        case {"type": "enum", "symbols": [*symbols]}:
            name = " | ".join(str(symbol).rsplit("#", 1)[-1].rsplit("/", 1)[-1] for symbol in symbols)
        case {"type": inner}:
            name = type_name(inner)
        case _:
            name = str(kind)
    return name
