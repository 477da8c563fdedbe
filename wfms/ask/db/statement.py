"""Names of states in statements, taken from their enums."""

from sluice.contracts.common.states import AskItemState, DeviceState


def statement(text: str) -> str:
    """Return a statement with states filled in.

    Args:
        text: States are written as ``{item.OPEN}``; other braces are doubled.
    """
    return text.format(item=AskItemState, state=DeviceState)
