"""The raw frame of the data acquisition: a header, then hits in read-out order.

Little-endian header of 60 bytes: magic `SPDFRAME` · format version u16 · header size u16 · run u32
· frame u32 · start time u64 (ns since 1970 UTC) · length u64 (ns) · number of hits u32 · period, 16
bytes of ASCII filled with zeros · CRC-32 u32 over the header before it and all hits. Then one
16-byte `detector.HIT` for each hit.
"""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sluice.packs.programs import BadData, UsageError
from sluice.text.visible_text import quoted
from spd.detector import HIT, HitArray, is_known_channel

MAGIC = b"SPDFRAME"
VERSION = 1
PERIOD_BYTES = 16
_FIELDS = struct.Struct("<8sHHIIQQI16s")
_CRC = struct.Struct("<I")
HEADER_BYTES = _FIELDS.size + _CRC.size


@dataclass(frozen=True)
class FrameHeader:
    """The header of a frame. Times are in ns."""

    run: int
    frame: int
    period: str
    start_time_ns: int
    length_ns: int


def period_bytes(period: str) -> bytes:
    """Return the name of a period as the header stores it, without padding.

    Raises:
        UsageError: The name does not fit into the header.
    """
    if not period.isascii() or not period.isprintable() or len(period) > PERIOD_BYTES:
        raise UsageError(
            f"the period {quoted(period)} is not at most {PERIOD_BYTES} printable ASCII characters"
        )
    return period.encode("ascii")


def encode_frame(header: FrameHeader, hits: HitArray) -> bytes:
    """Return the bytes of a frame.

    `hits` are sorted into read-out order: subdetector, channel, time.
    """
    ordered = hits[np.lexsort((hits["amplitude"], hits["time"], hits["channel"]))]
    fields = _FIELDS.pack(
        MAGIC,
        VERSION,
        HEADER_BYTES,
        header.run,
        header.frame,
        header.start_time_ns,
        header.length_ns,
        len(ordered),
        period_bytes(header.period),
    )
    payload = ordered.tobytes()
    return fields + _CRC.pack(zlib.crc32(payload, zlib.crc32(fields))) + payload


def decode_frame(content: bytes, source: Path) -> tuple[FrameHeader, HitArray]:
    """Return the header and the hits, in read-out order, of a frame's bytes.

    Raises:
        BadData: The frame is damaged; the error names `source`.
    """
    if len(content) < HEADER_BYTES:
        raise BadData(
            source, f"truncated: {len(content)} bytes are fewer than the header's {HEADER_BYTES}"
        )
    magic, version, size, run, frame, start, length, count, period = _FIELDS.unpack_from(content)
    if magic != MAGIC:
        raise BadData(
            source, f"not a raw frame: it begins with {quoted(magic)}, not {quoted(MAGIC)}"
        )
    if version != VERSION:
        raise BadData(
            source, f"raw format version {version} is unknown; this program reads version {VERSION}"
        )
    if size != HEADER_BYTES:
        raise BadData(
            source,
            f"the header says that it has {size} bytes; version {VERSION} has {HEADER_BYTES}",
        )
    expected = HEADER_BYTES + count * HIT.itemsize
    if len(content) != expected:
        what = "truncated" if len(content) < expected else "too long"
        raise BadData(
            source, f"{what}: {count} hits need {expected} bytes, the file has {len(content)}"
        )
    header_crc = _CRC.unpack_from(content, _FIELDS.size)[0]
    content_crc = zlib.crc32(
        memoryview(content)[HEADER_BYTES:], zlib.crc32(content[: _FIELDS.size])
    )
    if header_crc != content_crc:
        raise BadData(
            source,
            f"wrong checksum: the header says CRC {header_crc:08x}, the content has"
            f" {content_crc:08x}",
        )
    hits = np.frombuffer(content, dtype=HIT, offset=HEADER_BYTES)
    _check_hits(hits, length, source)
    try:
        name = period.rstrip(b"\0").decode("ascii")
    except UnicodeDecodeError as error:
        raise BadData(source, f"the period {quoted(period)} is not ASCII") from error
    return FrameHeader(run, frame, name, start, length), hits


def _check_hits(hits: HitArray, length_ns: int, source: Path) -> None:
    """Check that the hits are possible, and report the first that is not.

    Wrong content with a right checksum means that the writer has a bug.
    """
    unknown = np.flatnonzero(~is_known_channel(hits["channel"]))
    if len(unknown):
        code = int(hits["channel"][unknown[0]])
        raise BadData(source, f"hit {unknown[0]}: no channel has the code {code:#010x}")
    late = np.flatnonzero(hits["time"] >= length_ns)
    if len(late):
        time = int(hits["time"][late[0]])
        raise BadData(
            source, f"hit {late[0]}: its time {time} ns is outside the frame of {length_ns} ns"
        )
