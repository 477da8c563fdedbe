"""Invented words, with the syllables, capitals, numbers and punctuation of printed prose."""

import string
from random import Random

_ONSETS: tuple[str, ...] = (
    *"bcčdfghjklmnpqrřsštvwxzž", "br", "ch", "cv", "dr", "ďá", "fl", "gr", "kl", "kr", "ml", "ňu",
    "pl", "pr", "př", "sk", "sl", "st", "str", "sv", "ťo", "th", "tr", "vl", "zd",
)  # fmt: skip
_VOWELS: tuple[str, ...] = (*"aaaeeeiioouuyáéěíóúůý", "ou", "au", "ea")
_CODAS: tuple[str, ...] = (
    "", "", "", *"bcdfgklmnrstxz", "ck", "ď", "ň", "ll", "nd", "ng", "st", "š", "ť", "ž",
)  # fmt: skip
_ENDS = (",", ",", ".", ".", ";", ":", "?", "!")
_PAIRS = ('""', "''", "()", "[]", "{}", "<>", "**", "//", "__", "``")


def draw_word(random: Random) -> str:
    """Return one random word, with its punctuation."""
    kind = random.random()
    if kind < 0.08:
        return _number(random)
    if kind < 0.11:
        return "".join(random.choices(string.ascii_letters + string.punctuation, k=3))
    word = "".join(
        random.choice(_ONSETS) + random.choice(_VOWELS) + random.choice(_CODAS)
        for _ in range(random.choice((1, 1, 2, 2, 2, 3)))
    )
    if kind < 0.28:
        word = word.capitalize()
    elif kind < 0.36:
        word = word.upper()
    if random.random() < 0.18:
        return word + random.choice(_ENDS)
    if random.random() < 0.05:
        pair = random.choice(_PAIRS)
        return f"{pair[0]}{word}{pair[1]}"
    if random.random() < 0.03:
        return word + "-" + random.choice(_ONSETS) + random.choice(_VOWELS)
    return word


def _number(random: Random) -> str:
    number = random.randrange(10 ** random.randint(1, 4))
    match random.randrange(8):
        case 0:
            text = f"{number}."
        case 1:
            text = f"{number}%"
        case 2:
            text = f"{random.randrange(1, 29)}/{random.randrange(1, 13)}"
        case 3:
            text = f"{number},{random.randrange(100):02d}"
        case 4:
            text = f"{number}-{number + 1}"
        case 5:
            text = random.choice("$#&@+=~^|\\") + str(number)
        case _:
            text = str(number)
    return text
