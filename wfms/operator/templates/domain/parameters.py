"""Type names of template parameters, as people read them."""

from typing import Any

from sluice.text.identifiers import local_name


def type_name(kind: Any) -> str:
    """Return a CWL type as people write it: ``int?``, ``string[]``, ``low | high``."""
    match kind:
        case ["null", inner] | [inner, "null"]:
            name = f"{type_name(inner)}?"
        case list():
            name = " | ".join(type_name(choice) for choice in kind)
        case {"type": "array", "items": items}:
            name = f"{type_name(items)}[]"
        case {"type": "enum", "symbols": [*symbols]}:
            name = " | ".join(map(local_name, symbols))
        case {"type": inner}:
            name = type_name(inner)
        case _:
            name = str(kind)
    return name
