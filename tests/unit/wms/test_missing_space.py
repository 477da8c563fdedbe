"""Messages of tasks that wait for free space on a storage."""

import pytest

from wms.domain.explanations import MissingSpace, describe_full_storage


@pytest.mark.parametrize(
    ("free", "is_tried", "sentence"),
    [
        (
            1_000_000,
            False,
            "storage work is full: a job needs 4.0 MB, 1.0 MB free; free space there, and they go"
            " on by themselves",
        ),
        (
            25_000_000,
            False,
            "storage work had too little space for what its jobs wrote together; now 25.0 MB are"
            " free, a job needs 4.0 MB, and they are tried one by one",
        ),
        (
            25_000_000,
            True,
            "storage work had too little space for what its jobs wrote together; now 25.0 MB are"
            " free, a job needs 4.0 MB, and one is tried now",
        ),
    ],
)
def test_storage_with_space_for_one_job_is_not_called_full(
    free: int, is_tried: bool, sentence: str
) -> None:
    assert describe_full_storage(MissingSpace("work", 4_000_000, free, is_tried)) == sentence
