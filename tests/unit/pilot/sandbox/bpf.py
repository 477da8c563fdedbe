"""Interpret classic BPF as the kernel does for filters on system calls. See seccomp(2) and
bpf(4)."""

import operator
import struct
from collections.abc import Callable, Sequence
from functools import cache

_LOAD, _AND, _RETURN, _GO_ON = 0x20, 0x54, 0x06, 0x05
#: Conditions of jumps on the loaded value and the value of the instruction.
_HOLDS: dict[int, Callable[[int, int], bool]] = {
    0x15: operator.eq,
    0x25: operator.gt,
    0x35: operator.ge,
    0x45: lambda word, bits: word & bits != 0,
}
_INSTRUCTION = struct.Struct("=HBBI")
#: The number of a call, the architecture, the instruction pointer and the arguments.
_DATA = struct.Struct("=IIQ6Q")
#: The limit of the kernel.
_MAX_INSTRUCTIONS = 4096


def run_filter(
    program: bytes, architecture: int, number: int, arguments: Sequence[int] = ()
) -> int:
    """Return the result of ``program`` for a call. Missing arguments are 0. Raises ``ValueError``
    where the kernel would refuse the program."""
    data = _DATA.pack(number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = _decode_program(program)
    accumulator, place = 0, 0
    while place < len(steps):
        code, yes, no, value = steps[place]
        place += 1
        if code == _RETURN:
            return value
        if code == _LOAD and value % 4 == 0 and value < _DATA.size:
            [accumulator] = struct.unpack_from("=I", data, value)
        elif code == _AND:
            accumulator &= value
        elif code == _GO_ON:
            place += value
        elif code in _HOLDS:
            place += yes if _HOLDS[code](accumulator, value) else no
        else:
            raise ValueError(f"{place - 1}: instruction {code:#x} with {value:#x}")
    raise ValueError("the program has no end")


@cache
def _decode_program(program: bytes) -> list[tuple[int, int, int, int]]:
    steps = list(_INSTRUCTION.iter_unpack(program))
    if not 0 < len(steps) <= _MAX_INSTRUCTIONS:
        raise ValueError(f"a program of {len(steps)} instructions")
    return steps
