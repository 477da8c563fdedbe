"""Owners of a job's folders while its tool runs as the user of the slot."""

from pilot.folders.work_folder import IN, OUT, SYSTEM_TMP, TMP
from pilot.isolation.users.slot_user import SlotUser, chown_tree, let_pass, let_read
from pilot.runner.tools.prepared_job import PreparedJob


def hand_over(prepared_job: PreparedJob, user: SlotUser) -> None:
    """Give the user read access to the inputs and write access to the other folders.

    If a process of the pilot runs the tools itself, it keeps the folders and gives each tool its
    own folders there.

    Raises:
        OSError: An owner or mode could not be changed.
    """
    folder = prepared_job.job_files.folder
    (chown_tree if prepared_job.in_place else let_read)(f"{folder}/{IN}", user)
    if prepared_job.own_python:
        let_pass(f"{folder}/{TMP}", user)
        return
    for name in (OUT, TMP, SYSTEM_TMP):
        chown_tree(f"{folder}/{name}", user)
