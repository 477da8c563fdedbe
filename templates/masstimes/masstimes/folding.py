"""Words as they are compared: small letters, without the marks of Polish ones, which many pages
leave out.
"""

from __future__ import annotations

import unicodedata

#: No mark of it can be taken off.
_BARRED = str.maketrans({"ł": "l", "đ": "d", "ø": "o"})


def folded(text: str) -> str:
    """``Święta Łaska`` is ``swieta laska``. May be longer or shorter than the text."""
    apart = unicodedata.normalize("NFKD", text.lower().translate(_BARRED))
    return "".join(character for character in apart if not unicodedata.combining(character))
