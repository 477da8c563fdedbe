"""Tests of the files that the tools of a slot write their streams to."""

import os
from pathlib import Path

from pilot.folders.dotless_alias import DotlessAlias
from pilot.folders.work_folder import WorkFolder


def test_stream_has_no_output_of_the_previous_tool(tmp_path: Path) -> None:
    work = WorkFolder(f"{os.path.realpath(tmp_path)}/slot", DotlessAlias(str(tmp_path), "own"))
    for output in (b"what the first one said, at length", b"", b"short"):
        stream = work.open_stream("stderr")
        assert os.fstat(stream).st_size == 0
        os.write(stream, output)
        os.close(stream)
        assert Path(work.path, "stderr").read_bytes() == output
