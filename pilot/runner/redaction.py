"""Redaction of secrets in the output of tools.

Only the exact values are found, and no other spelling of them.
"""

import os
import re
from collections.abc import Mapping


class Redaction:
    """Replaces values of secrets.

    ``shown`` maps each value to its replacement. Values are searched without surrounding
    whitespace, as a shell removes a final newline.
    """

    def __init__(self, shown: Mapping[str, str]) -> None:
        self._shown = {
            (value.strip() or value).encode(): text.encode() for value, text in shown.items()
        }
        self._longest = max(map(len, self._shown), default=0)
        longest_first = sorted(self._shown, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first)))

    def text(self, said: str) -> str:
        """Return a text without values of secrets."""
        return self.data(said.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def data(self, said: bytes) -> bytes:
        """Return bytes without values of secrets."""
        return self._between(said, 0, len(said))

    def read(self, file: int, start: int, end: int) -> bytes:
        """Return the bytes of a file from ``start`` to ``end`` without values of secrets.

        A value that only starts or ends in this range is removed as a whole.

        Raises:
            OSError: The file could not be read.
        """
        first, said = self._around(file, start, end)
        return self._between(said, start - first, end - first)

    def read_in_place(self, file: int, start: int, end: int) -> bytes:
        """Return bytes of a file with an asterisk for each byte of a value, so offsets stay valid.

        The start of a value at the end of the range is left out, as its rest may not be written
        yet.

        Raises:
            OSError: The file could not be read.
        """
        first, said = self._around(file, start, end)
        if not self._shown:
            return said
        said = self._pattern.sub(lambda found: b"*" * len(found[0]), said)
        return said[start - first : max(start, end - self._begun(said)) - first]

    def _around(self, file: int, start: int, end: int) -> tuple[int, bytes]:
        """Return the bytes of a range and around it, as far as a value may reach.

        Returns:
            The offset of the first byte, and the bytes.

        Raises:
            OSError: The file could not be read.
        """
        more = max(0, self._longest - 1)
        first = max(0, start - more)
        return first, os.pread(file, end + more - first, first)

    def _between(self, said: bytes, start: int, end: int) -> bytes:
        if not self._shown:
            return said[start:end]
        parts, at = [], start
        for found in self._pattern.finditer(said):
            if found.end() > at and found.start() < end:
                parts += [said[at : max(at, found.start())], self._shown[found[0]]]
                at = found.end()
        return b"".join([*parts, said[at : max(at, end)]])

    def _begun(self, said: bytes) -> int:
        """Return the number of bytes at the end that may be the start of a value."""
        return max(
            (
                size
                for value in self._shown
                for size in range(1, min(len(value), len(said) + 1))
                if said.endswith(value[:size])
            ),
            default=0,
        )


#: Redaction without any secret.
NOTHING = Redaction({})
