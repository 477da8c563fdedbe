"""The characters of generated scans, which the small model reads."""

import string

DIACRITICS = "áčďéěíňóřšťúůýžÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ"

#: Printable ASCII and Czech letters, in the order of the model's outputs.
CHARACTERS = "".join(
    [" ", string.digits, string.ascii_lowercase, string.ascii_uppercase, string.punctuation]
) + (DIACRITICS)
