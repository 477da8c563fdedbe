"""Attacks on files that do not belong to the job: files of other jobs, the storages, the pilot and
the system."""

from tests.attacks.tools.attack import Attack, make_kernel_attack


def _make_read_attack(what: str, name: str) -> Attack:
    return Attack(f"reads {what}", f"require(v.mark in open(v.{name}).read())")


def _make_write_attack(what: str, name: str) -> Attack:
    return Attack(
        f"writes to {what}",
        f"open(v.{name}, 'a').write('more')",
        is_successful=lambda node_objects: node_objects.is_file_changed(name),
    )


def _make_open_attack(what: str, path: str) -> Attack:
    """Return an attack that opens the file for writing and does not change it."""
    return make_kernel_attack(f"opens {what} for writing", f"touch({path})")


def _make_input_attack(name: str, code: str) -> Attack:
    """Return an attack on the input. ``file`` in the code is the input of the job, and ``v.input``
    is the file of the storage."""
    return Attack(
        f"writes to its input {name}",
        f"file = os.path.realpath(sys.argv[1])\n{code}",
        is_successful=lambda node_objects: node_objects.is_input_changed(),
        large=True,
        refusals=["EXDEV"],
    )


READING = [
    _make_read_attack("another job's file", "job"),
    _make_read_attack("another data set", "data"),
    _make_read_attack("a file in the home folder", "home_file"),
    _make_read_attack("the pilot's journals", "journal"),
    _make_read_attack("a file in /tmp", "tmp"),
    _make_read_attack("a file in /var/tmp", "var_tmp"),
    _make_read_attack("shared memory of POSIX", "shm"),
    Attack("lists the jobs' folders", "require('1-1' in os.listdir(v.slots))"),
    Attack("lists the storage", "require('other' in os.listdir(v.store))"),
    Attack("lists the home folder", "require('secret.txt' in os.listdir(v.home))"),
    # The attack only opens the file and does not read it.
    make_kernel_attack(
        "opens a file of root's alone", "os.close(os.open('/etc/shadow', os.O_RDONLY))"
    ),
    make_kernel_attack(
        "opens the kernel's memory as a file", "os.close(os.open('/proc/kcore', os.O_RDONLY))"
    ),
    Attack(
        "reads through its own root", "require(v.mark in open('/proc/self/root' + v.data).read())"
    ),
    Attack(
        "reads through the root of the first process",
        "require(v.mark in open('/proc/1/root' + v.data).read())",
        essence="os.listdir('/proc/1/root')",
    ),
    Attack(
        "reads through the root of the pilot",
        "require(v.mark in open(f'/proc/{v.pilot}/root' + v.data).read())",
    ),
    Attack("lists where the slot's process works", "require(os.listdir(f'/proc/{v.slot}/cwd'))"),
    Attack(
        "reads what another process has open",
        "require(v.mark in open(f'/proc/{v.process}/fd/{v.descriptor}').read())",
    ),
    Attack(
        "reads through a link that it makes",
        "os.symlink(v.data, 'x'); require(v.mark in open('x').read())",
    ),
    Attack(
        "reads through a link that lies in the storage",
        "require(v.mark in open(os.path.dirname(v.input) + '/link').read())",
    ),
    Attack(
        "gives another file a second name",
        "os.link(v.data, 'x'); require(v.mark in open('x').read())",
    ),
    Attack(
        "opens a file by its number",
        """
handle = ctypes.create_string_buffer(bytes.fromhex(v.handle))
place = os.open(".", os.O_RDONLY)
file = c("open_by_handle_at", place, handle, os.O_RDONLY)
require(v.mark in os.read(file, 99).decode())
""",
        essence="""
handle = ctypes.create_string_buffer(b"\\x80".ljust(136, b"\\0"), 136)
where = ctypes.c_int()
c("name_to_handle_at", -100, b".", handle, ctypes.byref(where), 0)
os.close(c("open_by_handle_at", os.open(".", os.O_RDONLY), handle, os.O_RDONLY))
""",
    ),
    Attack(
        "leaves a root of its own",
        """
os.mkdir("x")
here = os.open(".", os.O_RDONLY)
os.chroot("x")
os.fchdir(here)
for _ in range(64):
    os.chdir("..")
os.chroot(".")
require(v.mark in open(v.data).read())
""",
        essence="os.chroot('/')",
    ),
]

WRITING = [
    _make_write_attack("another data set", "data"),
    _make_write_attack("another job's file", "job"),
    _make_write_attack("the home folder", "home_file"),
    _make_write_attack("the pilot's journals", "journal"),
    _make_write_attack("a file in /tmp", "tmp"),
    _make_write_attack("shared memory of POSIX", "shm"),
    Attack(
        "removes another data set",
        "os.unlink(v.data)",
        is_successful=lambda node_objects: node_objects.is_file_changed("data"),
    ),
    Attack(
        "puts another file in the place of a journal",
        "open('x', 'w').close(); os.replace('x', v.journal)",
        is_successful=lambda node_objects: node_objects.is_file_changed("journal"),
    ),
    Attack(
        "writes through a link that it makes",
        "os.symlink(v.data, 'x'); open('x', 'w').close()",
        is_successful=lambda node_objects: node_objects.is_file_changed("data"),
    ),
    Attack(
        "writes by a second name",
        "os.link(v.job, 'x'); open('x', 'w').close()",
        is_successful=lambda node_objects: node_objects.is_file_changed("job"),
    ),
    Attack(
        "writes through a link that lies in the storage",
        "open(os.path.dirname(v.input) + '/link', 'w').close()",
        is_successful=lambda node_objects: node_objects.is_file_changed("data"),
    ),
    Attack(
        "makes a file in the home folder",
        "open(v.home + '/left', 'w').close()",
        is_successful=lambda node_objects: node_objects.is_file_left_in_home(),
    ),
    # The dynamic loader may write files within the tool. A file in the home shows that it did so in
    # the process that starts the tool.
    Attack(
        "has the loader of other programs write a file",
        "pass",
        is_successful=lambda node_objects: node_objects.is_file_left_in_home(),
        environment={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": "HOME/left"},
    ),
    Attack(
        "changes who may enter the run's folder",
        "os.chmod(v.run_folder, 0o755 ^ 0o022)",
        is_successful=lambda node_objects: node_objects.is_run_folder_changed(),
    ),
    Attack(
        "changes the time of the run's folder",
        "os.utime(v.run_folder, (1, 1))",
        is_successful=lambda node_objects: node_objects.is_run_folder_changed(),
    ),
]

INPUTS = [
    _make_input_attack("after a change of its mode",
                  "os.chmod(file, 0o666); open(file, 'r+b').write(b'x')"),
    _make_input_attack("through a link", "os.symlink(file, 'x'); open('x', 'r+b').write(b'x')"),
    _make_input_attack("by a second name", "os.link(file, 'x'); open('x', 'r+b').write(b'x')"),
    _make_input_attack("by another file in its place",
                  "open('x', 'w').write('x'); os.replace('x', v.input)"),
    _make_input_attack("by its descriptor",
                  "f = os.open(file, os.O_RDONLY); open(f'/proc/self/fd/{f}', 'r+b').write(b'x')"),
    _make_input_attack("by a file beside it", "open(v.input + '.more', 'w').close()"),
]  # fmt: skip

#: Processes that open the file have to wait for the tool, up to /proc/sys/fs/lease-break-time.
_LEASE = """
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = os.open(path, os.O_RDONLY)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
try:
    os.open(path, os.O_RDONLY | os.O_NONBLOCK)
except BlockingIOError:
    return
raise NothingError("it can be opened")
"""

OTHERS = [
    Attack(
        "keeps others from opening its input",
        "path = sys.argv[1]" + _LEASE,
        essence="open('x', 'w').close(); path = 'x'" + _LEASE,
        large=True,
    ),
    make_kernel_attack(
        "is told what others do in a folder",
        """
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(os.open("/usr/lib", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)
""",
    ),
]

SYSTEM = [
    _make_open_attack("a file of /usr", "'/usr/lib/os-release'"),
    _make_open_attack("a file of /etc", "'/etc/passwd'"),
    _make_open_attack("Python's library", "os.__file__"),
    Attack(
        "opens the pilot's packages for writing", "touch(v.package)", essence="touch(os.__file__)"
    ),
    _make_open_attack("a setting of the kernel's", "'/proc/sys/kernel/core_pattern'"),
    _make_open_attack("the keys to the kernel", "'/proc/sysrq-trigger'"),
    _make_open_attack(
        "a setting of the kernel's memory", "'/sys/kernel/mm/transparent_hugepage/enabled'"
    ),
    make_kernel_attack(
        "opens a group of processes for writing",
        """
for folder, _, names in os.walk("/sys/fs/cgroup"):
    if "cgroup.procs" in names:
        try:
            return touch(folder + "/cgroup.procs")
        except OSError:
            pass
raise NothingError("there is none to be written to")
""",
    ),
]

ATTACKS = [*READING, *WRITING, *INPUTS, *OTHERS, *SYSTEM]
