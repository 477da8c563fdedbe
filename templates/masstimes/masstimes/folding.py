"""Normalization of words: lower case, without diacritics.

Many pages leave out Polish diacritics.
"""

import unicodedata

#: Letters that Unicode does not decompose.
_BARRED = str.maketrans({"ł": "l", "đ": "d", "ø": "o"})


def fold(text: str) -> str:
    """Return ``swieta laska`` for ``Święta Łaska``.

    The result may be longer or shorter than the text.
    """
    decomposed = unicodedata.normalize("NFKD", text.lower().translate(_BARRED))
    return "".join(character for character in decomposed if not unicodedata.combining(character))
