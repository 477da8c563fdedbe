"""State names in statements, from their enums."""

from sluice.contracts.states import AskItemState, DeviceStanding


def statement(text: str) -> str:
    """``text``: with states as ``{item.OPEN}``; other braces doubled."""
    return text.format(item=AskItemState, standing=DeviceStanding)
