"""Normalization of words: lower case, without diacritics.

Many pages leave out Polish diacritics.
"""

from __future__ import annotations

import unicodedata

#: Letters that Unicode does not decompose.
_BARRED = str.maketrans({"ł": "l", "đ": "d", "ø": "o"})


def folded(text: str) -> str:
    """Return ``swieta laska`` for ``Święta Łaska``.

    The result may be longer or shorter than the text.
    """
    apart = unicodedata.normalize("NFKD", text.lower().translate(_BARRED))
    return "".join(character for character in apart if not unicodedata.combining(character))
