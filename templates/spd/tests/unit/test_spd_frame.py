"""The raw format: round trip, and detection of damage."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spd.detector import HIT, HitArray, Subdetector, encode_channel, is_known_channel
from spd.frame import HEADER_BYTES, FrameHeader, decode_frame, encode_frame
from spd.simulation import Conditions, simulate_frame

from sluice.packs.programs import BadData

SOURCE = Path("run000007-frame000003.raw")
HEADER = FrameHeader(
    run=7, frame=3, period="2026-A", start_time_ns=1_767_225_600_000_000_000, length_ns=5_000
)
CRC_AT = HEADER_BYTES - 4


def make_hits(times: list[int]) -> HitArray:
    hits = np.zeros(len(times), dtype=HIT)
    cells = np.arange(len(times))[::-1].copy()
    hits["channel"] = encode_channel(Subdetector.STRAW, np.zeros_like(cells), cells)
    hits["time"] = times
    hits["amplitude"] = 10
    return hits


def add_crc(content: bytes) -> bytes:
    fields, payload = content[:CRC_AT], content[HEADER_BYTES:]
    return fields + struct.pack("<I", zlib.crc32(fields + payload)) + payload


FRAME = encode_frame(HEADER, make_hits([5, 900, 4_999]))


@given(
    run=st.integers(0, 2**32 - 1),
    frame=st.integers(0, 2**32 - 1),
    period=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=16),
    times=st.lists(st.integers(0, 4_999), max_size=30),
)
def test_decoded_frame_equals_the_encoded_frame(
    run: int, frame: int, period: str, times: list[int]
) -> None:
    header = FrameHeader(run, frame, period, 123_456_789, 5_000)
    hits = make_hits(times)
    read, decoded_hits = decode_frame(encode_frame(header, hits), SOURCE)
    assert read == header
    assert sorted(decoded_hits.tolist()) == sorted(hits.tolist())
    assert decoded_hits["channel"].tolist() == sorted(hits["channel"].tolist())


@pytest.mark.parametrize(
    ("field", "offset", "reason"),
    [
        ("magic", 0, "not a raw frame"),
        ("version", 8, "version 254 is unknown"),
        ("header size", 10, "the header says that it has 195 bytes"),
        ("run", 12, "wrong checksum"),
        ("frame", 16, "wrong checksum"),
        ("start time", 20, "wrong checksum"),
        ("length", 28, "wrong checksum"),
        ("number of hits", 36, "truncated: 252 hits need"),
        ("period", 40, "wrong checksum"),
        ("crc", CRC_AT, "wrong checksum"),
        ("first hit", HEADER_BYTES, "wrong checksum"),
    ],
)
def test_damage_to_each_field_is_named(field: str, offset: int, reason: str) -> None:
    damaged = bytearray(FRAME)
    damaged[offset] ^= 0xFF
    with pytest.raises(BadData, match=reason) as caught:
        decode_frame(bytes(damaged), SOURCE)
    assert str(caught.value).startswith(f"{SOURCE}: "), field


@given(offset=st.integers(0, len(FRAME) - 1), flips=st.integers(1, 255))
def test_each_changed_byte_is_detected(offset: int, flips: int) -> None:
    damaged = bytearray(FRAME)
    damaged[offset] ^= flips
    with pytest.raises(BadData):
        decode_frame(bytes(damaged), SOURCE)


@given(length=st.integers(0, len(FRAME) - 1))
def test_shortened_frame_is_reported_as_truncated(length: int) -> None:
    with pytest.raises(BadData, match="truncated"):
        decode_frame(FRAME[:length], SOURCE)


def test_bytes_after_the_last_hit_are_refused() -> None:
    with pytest.raises(BadData, match="too long: 3 hits need 108 bytes, the file has 109"):
        decode_frame(FRAME + b"\0", SOURCE)


def test_unknown_channel_is_refused_despite_a_correct_checksum() -> None:
    content = bytearray(FRAME)
    content[HEADER_BYTES : HEADER_BYTES + 4] = struct.pack("<I", 9 << 24)
    with pytest.raises(BadData, match="hit 0: no channel has the code 0x09000000"):
        decode_frame(add_crc(bytes(content)), SOURCE)


def test_hit_after_the_end_of_the_frame_is_refused() -> None:
    with pytest.raises(BadData, match="hit 0: its time 5000 ns is outside the frame of 5000 ns"):
        decode_frame(encode_frame(HEADER, make_hits([5_000])), SOURCE)


def test_hits_of_different_events_interleave_in_readout_order() -> None:
    hits, truth = simulate_frame(1, 1, 1, Conditions())
    _, read = decode_frame(
        encode_frame(FrameHeader(1, 1, "", 0, Conditions().length_ns), hits), SOURCE
    )
    assert len(truth.time_ns) > 50
    assert (np.diff(read["channel"].astype(np.int64)) >= 0).all()
    assert (np.diff(read["time"].astype(np.int64)) < 0).sum() > len(read) / 3
    assert is_known_channel(read["channel"]).all()
