"""Folders of a pilot on its node: what lies in them, whose they are, how they are emptied.

::

    <work_dir>/<name>/             nobody else may look into it, or put anything there
        lock                       held while a pilot of that name (or a process of its slots) lives
        key                        private: by it a start of the pilot is known as what it was
        runs/<uid>/                one start of the pilot
            journals/              what attempts have done (``pilot.reports.journal``)
            held                   the jobs it had when it last got some
            memory_group           where the groups of its slots are (``pilot.node.memory_groups``)
            system/                copies of settings of the node (``pilot.node.system_files``)
            slots/<pid>-<n>/       the folder that one slot's jobs work in, one after the other
            slots/<pid>-spare/     files for their inputs (``spare_files``)
            phases/<pid>           what one slot is at (``pilot.runner.progress_file``)
            shared/<pid>/<task>/   files that all jobs of a task are given, as one slot keeps them
"""
