"""Values of secrets taken out of what tools say, before anybody else reads it: exactly as they are,
in no other spelling."""

import os
import re
from collections.abc import Mapping


class Redaction:
    """``shown``: what stands in place of each value. A value that ends with a newline is found
    without it: so a shell hands it on."""

    def __init__(self, shown: Mapping[str, str]) -> None:
        self._shown = {
            (value.strip() or value).encode(): text.encode() for value, text in shown.items()
        }
        self._longest = max(map(len, self._shown), default=0)
        longest_first = sorted(self._shown, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first)))

    def text(self, said: str) -> str:
        return self.data(said.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def data(self, said: bytes) -> bytes:
        return self._between(said, 0, len(said))

    def read(self, file: int, start: int, end: int) -> bytes:
        """Bytes of a file from ``start`` up to ``end``; a value that only begins or ends there is
        taken out whole. Raises ``OSError``."""
        first, said = self._around(file, start, end)
        return self._between(said, start - first, end - first)

    def read_in_place(self, file: int, start: int, end: int) -> bytes:
        """As ``read``, with an asterisk for each byte of a value, so that all else stays where it
        is; without what may be the beginning of a value that is not written yet. Raises
        ``OSError``."""
        first, said = self._around(file, start, end)
        if not self._shown:
            return said
        said = self._pattern.sub(lambda found: b"*" * len(found[0]), said)
        return said[start - first : max(start, end - self._begun(said)) - first]

    def _around(self, file: int, start: int, end: int) -> tuple[int, bytes]:
        """With as much before and behind as a value may reach; from where on."""
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
        """Bytes at the end with which a value may begin."""
        return max(
            (
                size
                for value in self._shown
                for size in range(1, min(len(value), len(said) + 1))
                if said.endswith(value[:size])
            ),
            default=0,
        )


#: Where there is no secret.
NOTHING = Redaction({})
