"""The files that a slot's tools write their streams to, one after the other."""

import os
from pathlib import Path

from pilot.folders.dotless_alias import DotlessAlias
from pilot.folders.work_folder import WorkFolder


def test_a_stream_has_nothing_of_the_tool_before(tmp_path: Path) -> None:
    work = WorkFolder(f"{os.path.realpath(tmp_path)}/slot", DotlessAlias(str(tmp_path), "own"))
    for said in (b"what the first one said, at length", b"", b"short"):
        stream = work.open_stream("stderr")
        assert os.fstat(stream).st_size == 0
        os.write(stream, said)
        os.close(stream)
        assert Path(work.path, "stderr").read_bytes() == said
