"""Test of how the bindings of a job are copied without their positions in the document."""

import copy

import pytest
from cwltool import builder, process

from pilot.runner.cwl.plain_bindings import copy_bindings_plainly


def test_copied_bindings_are_plain_lists_and_dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((process, "CommentedSeq"), (builder, "CommentedMap")):
        monkeypatch.setattr(module, name, getattr(module, name))
    copy_bindings_plainly()
    bindings = process.CommentedSeq([builder.CommentedMap({"position": [0], "datum": {"a": 1}})])
    bindings.lc.add_kv_line_col(0, [3, 7, 3, 9])
    copied = copy.deepcopy(bindings)
    assert copied == bindings
    assert type(copied) is list
    assert copied[0]["datum"] is not bindings[0]["datum"]
    assert type(copied[0]) is dict
