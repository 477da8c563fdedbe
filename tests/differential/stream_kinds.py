"""Conditions that a shape of steps has for its input streams."""

from tests.differential.growing_graph import Stream


def has_files(stream: Stream) -> bool:
    return stream.is_list and stream.kind == "file"


def is_list_of_numbers(stream: Stream) -> bool:
    return has_files(stream) and not stream.is_sparse


def is_single_file(stream: Stream) -> bool:
    return not stream.is_list and stream.kind == "file" and not stream.is_sparse


def is_made_single(stream: Stream) -> bool:
    return not stream.is_list and stream.kind == "file" and "/" in stream.ref


def has_numbers(stream: Stream) -> bool:
    return stream.kind == "int"


def has_folders(stream: Stream) -> bool:
    return stream.kind == "folder"


def has_lists_of_files(stream: Stream) -> bool:
    return stream.kind == "files"
