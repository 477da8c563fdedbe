"""Opening of a path below a folder in one system call that follows no links.

The call is openat2(2) of Linux 5.6, which Python has no function for.
"""

import ctypes
import errno
import os

_NUMBER = 437
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = (
    ctypes.c_long,
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.POINTER(_OpenHow),
    ctypes.c_size_t,
)
_how = ctypes.pointer(_OpenHow(os.O_PATH | os.O_CLOEXEC, 0, _BENEATH | _NO_LINKS | _NO_MAGIC_LINKS))
_SIZE = ctypes.sizeof(_OpenHow)


def open_beneath(folder: int, path: str) -> int | None:
    """Return an ``O_PATH`` descriptor of ``path`` below an open folder.

    Returns:
        None if the path has a link in it or leaves the folder, or if the kernel lacks the call. The
            caller then needs another way.

    Raises:
        FileNotFoundError: The path does not exist.
        NotADirectoryError: A part of the path is no folder.
    """
    descriptor = _syscall(_NUMBER, folder, os.fsencode(path) or b".", _how, _SIZE)
    if descriptor >= 0:
        return int(descriptor)
    number = ctypes.get_errno()
    if number in (errno.ENOENT, errno.ENOTDIR):
        raise OSError(number, os.strerror(number), path)
    return None
