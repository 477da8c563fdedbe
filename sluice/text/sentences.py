"""Parts of sentences."""


def lower_first(text: str) -> str:
    """Return the text with a lower-case first letter, so that it can continue a sentence."""
    return f"{text[:1].lower()}{text[1:]}"
