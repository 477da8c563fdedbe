"""Answer files must have the name of an output of their job."""

import pytest

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import JobState, ReportAnswer
from tests.integration.wms.human_tasks import HumanTasks, make_answered_job


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("00000000.1-answer.json", "00000000.1-answer.json"),
        ("00000001.1-answer.json", "00000000.1-answer.json"),
        ("00000000.1-answer.json", "00000001.1-answer.json"),
        ("00000001.2-answer.json", "00000001.2-answer.json"),
        ("answer.json", "answer.json"),
    ],
)
async def test_answer_file_with_another_name_than_its_job_is_refused(
    human_tasks: HumanTasks, name: str, place: str
) -> None:
    """A file of another job is also refused, before the catalogue would refuse it."""
    task = await human_tasks.create_task(files=2)
    first, second = await human_tasks.list_jobs(task)
    good, own = make_answered_job(task, first), make_answered_job(task, second)
    url = f"{task.main_output.dat_out_url}/{place}"
    misnamed_answer = own.model_copy(
        update={"output": own.output.model_copy(update={"name": name, "url": url})}
    )
    with pytest.raises(Unprocessable, match="is not named") as refused:
        await human_tasks.answer(task, good, misnamed_answer)
    assert refused.value.fields["jobs"] == str(second.id)
    assert await human_tasks.count_states(task) == {JobState.ASKED: 2}
    assert await human_tasks.answer(task, good, own) == [ReportAnswer.ACCEPTED] * 2
