"""Attacks that take more than a job may have. See ``LIMITED`` in ``slot_kinds``."""

from tests.attacks.tools.attack import Attack, make_kernel_attack
from tests.needs import MEMORY_GROUPS

#: MiB. This is more than the memory limit of a job in the sandbox.
_MEMORY = 320

#: Parts of messages of failed jobs.
_OF_MEMORY, _OF_DISK = "MiB of memory", "filled its folder"
#: If /tmp is in memory, either limit may end the job.
_OF_EITHER = f"{_OF_MEMORY}|{_OF_DISK}"
_FILE_FULL = ("EFBIG", "ENOSPC")

_FILL = f"""
size = {_MEMORY} << 20
def fill(file):
    for _ in range({_MEMORY}):
        require(os.write(file, bytes(1 << 20)) == 1 << 20, "no more is written")
"""

#: More than half of the resources that the kernel counts for each user. Slots share a user. Without
#: a sandbox, other programs may need the rest at the same time.
_SHARED = [
    make_kernel_attack(
        "takes most of the user's watches for changed files",
        """
for _ in range(int(read("/proc/sys/fs/inotify/max_user_instances")) // 2 + 1):
    c("inotify_init1", 0)
""",
        refusals=["EMFILE"],
    ),
    Attack(
        "takes most of the user's timers",
        """
timer = ctypes.c_void_p()
for _ in range(v.signals // 2 + 1):
    c("timer_create", 1, None, ctypes.byref(timer))
""",
        refusals=["EAGAIN"],
    ),
    Attack(
        "takes most of the user's memory for messages",
        """
sizes = struct.pack("8q", 0, 10, 8192, 0, 0, 0, 0, 0)
name = f"{v.token}-{os.getpid()}".encode()
for _ in range(v.messages // 2 // 80_000 + 1):
    call("mq_open", name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600, sizes)
    call("mq_unlink", name)
""",
        refusals=["EMFILE"],
    ),
    make_kernel_attack(
        "takes most of the node's terminals",
        """
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
most, kept = (int(read(f"/proc/sys/kernel/pty/{name}")) for name in ("max", "reserve"))
for _ in range((most - kept) // 2 + 1):
    os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
""",
        refusals=["ENOSPC"],
    ),
]

ATTACKS = [
    *_SHARED,
    Attack(
        "starts 400 processes",
        """
waiting, end = os.pipe()
started = []
try:
    for _ in range(400):
        pid = os.fork()
        if pid == 0:
            os.close(end)
            os.read(waiting, 1)
            os._exit(0)
        started.append(pid)
finally:
    os.close(end)
    for pid in started:
        os.waitpid(pid, 0)
""",
        refusals=["EAGAIN"],
        needs_own_job=True,
    ),
    Attack(
        "takes memory",
        f"""
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
mmap.mmap(-1, {_MEMORY} << 20, flags=flags)[-1]
""",
        refusals=["ENOMEM", "SIGKILL"],
        limit_message=_OF_MEMORY,
    ),
    Attack("takes memory by a file without a name",
           _FILL + 'fill(os.memfd_create("x"))', refusals=_FILE_FULL, limit_message=_OF_MEMORY),
    Attack(
        "takes memory by a file in /dev/shm",
        _FILL + """
path = f"/dev/shm/{v.token}-large"
try:
    fill(os.open(path, os.O_CREAT | os.O_WRONLY))
finally:
    os.unlink(path)
""",
        refusals=_FILE_FULL,
        limit_message=_OF_MEMORY,
    ),
    # Each of the files may be as large as the disk of the job.
    Attack(
        "takes memory by many files in /dev/shm",
        f"""
paths = [f"/dev/shm/{{v.token}}-large-{{number}}" for number in range({_MEMORY})]
try:
    for path in paths:
        with open(path, "wb") as file:
            file.write(bytes(1 << 20))
finally:
    for path in filter(os.path.exists, paths):
        os.unlink(path)
""",
        refusals=["ENOSPC", "ENOMEM", "SIGKILL"],
        limit_message=_OF_MEMORY,
    ),
    Attack(
        "takes memory by many files without a name",
        f"""
for _ in range({_MEMORY}):
    require(os.write(os.memfd_create("x"), bytes(1 << 20)) == 1 << 20, "no more is written")
""",
        refusals=["ENOMEM", "SIGKILL"],
        limit_message=_OF_MEMORY,
        # Without groups, a job that takes memory fast may exceed its limit.
        needs=[MEMORY_GROUPS],
    ),
    Attack(
        "takes memory by a file in /tmp",
        _FILL + """
path = f"/tmp/{v.token}-large"
try:
    fill(os.open(path, os.O_CREAT | os.O_WRONLY))
finally:
    os.unlink(path)
""",
        refusals=_FILE_FULL,
        limit_message=_OF_EITHER,
    ),
    Attack(
        "takes memory by shared memory",
        _FILL + """
memory = c("shmget", 0, ctypes.c_size_t(size), 0o1600)
place = attached(memory)
c("shmctl", memory, 0, None)  # goes with the last process
ctypes.memset(place, 1, size)
""",
        refusals=["ENOMEM", "SIGKILL"],
        limit_message=_OF_MEMORY,
    ),
    Attack(
        "makes a file of 1 TiB",
        "with open('x', 'wb') as file: file.truncate(1 << 40)",
        refusals=_FILE_FULL,
        needs_own_job=True,
    ),
    Attack(
        "makes 3 000 files",
        # The number of files is checked about once a second.
        """
import time
os.mkdir('d')
for number in range(3_000):
    os.mknod(f'd/{number}')
begun = time.monotonic()
while time.monotonic() < begun + 1.5:
    os.listdir('d')
""",
        limit_message=_OF_DISK,
    ),
    Attack(
        "opens 5 000 files",
        """
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
for _ in range(5_000):
    os.open("/dev/null", os.O_RDONLY)
""",
        essence="require(resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 5_100)",
        refusals=["EMFILE"],
    ),
    # The function of Python does not give the error number.
    make_kernel_attack(
        "sets its limits higher",
        "c('setrlimit', resource.RLIMIT_MEMLOCK, struct.pack('2Q', 1 << 40, 1 << 40))",
    ),
]  # fmt: skip
