"""Whether an image is whole, as what is cut off would be shown in part, and its size."""

from io import BytesIO

import imagesize

#: Of an image: with more of them browsers need gigabytes.
MOST_PIXELS = 100_000_000
#: Chunks of PNG (third edition, section 11.2): its pixels begin; the last one, with its checksum.
_PNG_PIXELS, _PNG_END = b"IDAT", b"IEND\xae\x42\x60\x82"
#: Markers of JPEG (ITU-T T.81, table B.1): a scan begins, the image ends. Neither is in a scan.
_SCAN, _JPEG_END = b"\xff\xda", b"\xff\xd9"
#: GIF89a, section 27.
_GIF_END = b"\x3b"


def is_whole(data: bytes, kind: str) -> bool:
    """``kind``: its media type. What follows the end is nobody's."""
    match kind:
        case "image/png":
            return data.rfind(_PNG_END) > data.find(_PNG_PIXELS) > 0
        case "image/jpeg":
            return data.rfind(_JPEG_END) > data.rfind(_SCAN) > 0
        case "image/gif":
            return data.rstrip(b"\0\r\n").endswith(_GIF_END)
        case _:  # WebP: the length that RIFF tells
            return len(data) >= 8 + int.from_bytes(data[4:8], "little")


def size_of(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels, as browsers turn it; None: it says none."""
    width, height = imagesize.get(BytesIO(data))
    return (width, height) if min(width, height) > 0 else None
