"""How much memory and disk a job uses now."""

import os

import psutil

_MIB = 1 << 20


def group_memory(leader: int) -> float:
    """Resident memory in MiB of a process and its descendants; 0 when it is gone."""
    try:
        process = psutil.Process(leader)
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return 0.0
    total = 0
    for member in family:
        try:
            total += member.memory_info().rss
        except psutil.Error:
            continue
    return total / _MIB


def folder_size(roots: list[str]) -> float:
    """MiB on disk below some folders; links are not followed."""
    total = 0
    folders = list(roots)
    while folders:
        try:
            with os.scandir(folders.pop()) as found:
                for entry in found:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except FileNotFoundError:
            continue
    return total / _MIB
