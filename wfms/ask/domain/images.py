"""Completeness and size of images. A browser would show a truncated image in part."""

from io import BytesIO

import imagesize

#: Limit of an image: browsers need gigabytes for more pixels.
MAX_PIXELS = 100_000_000
#: Chunks of PNG (third edition, section 11.2): start of the pixels; end with its checksum.
_PNG_PIXELS, _PNG_END = b"IDAT", b"IEND\xae\x42\x60\x82"
#: Markers of JPEG (ITU-T T.81, table B.1): start of a scan, end of the image. Neither is in a scan.
_SCAN, _JPEG_END = b"\xff\xda", b"\xff\xd9"
#: Trailer of GIF (GIF89a, section 27).
_GIF_END = b"\x3b"


def is_complete(data: bytes, kind: str) -> bool:
    """Return whether an image of this media type is complete. Data after its end is ignored."""
    match kind:
        case "image/png":
            return data.rfind(_PNG_END) > data.find(_PNG_PIXELS) > 0
        case "image/jpeg":
            return data.rfind(_JPEG_END) > data.rfind(_SCAN) > 0
        case "image/gif":
            return data.rstrip(b"\0\r\n").endswith(_GIF_END)
        case _:  # WebP: the length in the RIFF header
            return len(data) >= 8 + int.from_bytes(data[4:8], "little")


def read_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels as a browser rotates the image, or None if it has none."""
    width, height = imagesize.get(BytesIO(data))
    return (width, height) if min(width, height) > 0 else None
