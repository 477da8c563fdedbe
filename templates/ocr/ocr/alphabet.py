"""The characters that generated scans are written with and that the small model reads."""

from __future__ import annotations

import string

DIACRITICS = "áčďéěíňóřšťúůýžÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ"

#: Printable ASCII and Czech, in the order of the model's outputs.
CHARACTERS = "".join(
    [" ", string.digits, string.ascii_lowercase, string.ascii_uppercase, string.punctuation]
) + (DIACRITICS)
