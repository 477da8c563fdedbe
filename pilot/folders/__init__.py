"""Folders of a pilot on its node: content, owners and deletion.

::

    <work_dir>/<name>/             closed to other users
        lock                       locked while a pilot of that name or a slot process lives
        key                        private key that identifies the pilot to the WMS
        runs/<uid>/                one run of the pilot
            journals/              records of attempts (``pilot.reports.journal``)
            held                   the jobs it had after the last lease
            memory_group           folder of its control groups (see ``memory_groups``)
            system/                copies of the node's settings (see ``system_files``)
            slots/<pid>-<n>/       work folder of one slot's jobs
            slots/<pid>-spare/     spare files for inputs (``spare_files``)
            phases/<pid>           progress of one slot (``pilot.runner.progress_file``)
            shared/<pid>/<task>/   input files that all jobs of a task share, one set per slot
"""
