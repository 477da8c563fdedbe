"""The order of the entries of a data set."""

from enum import StrEnum


class EntryOrder(StrEnum):
    """The order of a data set's entries."""

    GIVEN = "given"  #: As on the command line, with files of a folder by name.
    NAME = "name"
    NATURAL = "natural"  #: By name, with numbers by value: page-9 before page-10.
    MTIME = "mtime"  #: By time of modification, then by name.
