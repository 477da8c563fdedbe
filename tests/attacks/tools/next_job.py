"""Attacks by what a job leaves for the next job of its slot: processes, files and other objects."""

from collections.abc import Callable, Sequence

from tests.attacks.tools.attack import NEVER, Attack
from tests.attacks.tools.network import UNREACHABLE
from tests.attacks.tools.node_objects import NodeObjects

#: A process in another session that blocks all signals and has its own name.
_DAEMON = """
ready, told = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    c("prctl", 15, v.token[-15:].encode(), 0, 0, 0)
    DOES
    os.write(told, b"x")
    while True:
        signal.sigwait([signal.SIGUSR1])
os.read(ready, 1)
"""


def _make_file_attack(where: str, path: str, *, only_if: str = "") -> Attack:
    return Attack(
        f"leaves a file in {where}",
        f"open({path}, 'w').write(v.mark)",
        next_job_code=f"require(open({path}).read() == v.mark)",
        essence=only_if,
    )


def _make_daemon_attack(
    name: str,
    *,
    does: str = "pass",
    later: str = "",
    happened: Callable[[NodeObjects], bool] | None = None,
    refusals: Sequence[str] = (),
) -> Attack:
    """Return an attack by a process that outlives its job. Slots adopt and kill such processes also
    without a sandbox (``pilot/runner/programs/orphans.py``)."""
    code = _DAEMON.replace("DOES", does)
    return Attack(
        name, code, next_job_code=later, is_successful=happened, essence=NEVER, refusals=refusals
    )


FILES = [
    _make_file_attack("/tmp", "f'/tmp/{v.token}-left'"),
    _make_file_attack("/var/tmp", "f'/var/tmp/{v.token}-left'"),
    _make_file_attack("/dev/shm", "f'/dev/shm/{v.token}-left'"),
    _make_file_attack("the home folder", "v.home + '/left'"),
    _make_file_attack("the slot's folder", "f'{v.slots}/{v.slot}-1/left'"),
    # Slots empty the folders of their jobs.
    _make_file_attack("its folder", "os.path.basename(v.tmp) + '-left'", only_if=NEVER),
    _make_file_attack(
        "the folder of its inputs", "os.path.dirname(sys.argv[1]) + '/left'", only_if=NEVER
    ),
    _make_file_attack(
        "the folder of its temporary files", "os.environ['TMPDIR'] + '/left'", only_if=NEVER
    ),
]

SHARED = [
    Attack(
        "leaves shared memory",
        "place = attached(c('shmget', v.key + 1, 4096, 0o1600))\n"
        "ctypes.memmove(place, v.mark.encode(), len(v.mark))",
        next_job_code="place = attached(c('shmget', v.key + 1, 0, 0))\n"
        "require(ctypes.string_at(place, len(v.mark)) == v.mark.encode())",
    ),
    Attack(
        "leaves semaphores",
        "c('semctl', c('semget', v.key + 1, 1, 0o1600), 0, 16, 7)",
        next_job_code="require(c('semctl', c('semget', v.key + 1, 1, 0), 0, 12) == 7)",
    ),
    Attack(
        "leaves a message",
        "queue = c('msgget', v.key + 1, 0o1600)\n"
        "c('msgsnd', queue, b'\\1'.ljust(8, b'\\0') + v.mark.encode(), len(v.mark), 0)",
        next_job_code="text = ctypes.create_string_buffer(128)\n"
        "c('msgrcv', c('msgget', v.key + 1, 0), text, 64, 0, 0o4000)\n"
        "require(v.mark.encode() in text.raw)",
    ),
    Attack(
        "leaves a message of POSIX",
        """
sizes = struct.pack("8q", 0, 1, 64, 0, 0, 0, 0, 0)
queue = call("mq_open", f"{v.token}-left".encode(), os.O_CREAT | os.O_RDWR, 0o600, sizes)
call("mq_timedsend", queue, v.mark.encode(), len(v.mark), 0, None)
""",
        next_job_code="""
queue = call("mq_open", f"{v.token}-left".encode(), os.O_RDONLY | os.O_NONBLOCK, 0, None)
text = ctypes.create_string_buffer(64)
call("mq_timedreceive", queue, text, 64, None, None)
require(text.value == v.mark.encode())
""",
    ),
    Attack(
        "leaves a key",
        'call("add_key", b"user", f"{v.token}-left".encode(), b"x", 1, -4)',
        next_job_code='call("keyctl", 10, -4, b"user", f"{v.token}-left".encode(), 0)',
        essence="call('keyctl', 0, -4, 1)",
    ),
]

#: Attacks on processes from the tool up to the pilot, whose settings the next job inherits.
INHERITED = [
    Attack(
        "limits the next job",
        "for pid in family(v.pilot): lower(pid)",
        next_job_code="require(resource.getrlimit(resource.RLIMIT_SIGPENDING)[0] == _LOWERED)",
    ),
    Attack(
        "leaves the next job one core",
        "one = {min(os.sched_getaffinity(0))}\n"
        "each_thread(family(v.pilot), lambda thread: os.sched_setaffinity(thread, one))",
        next_job_code="require(len(os.sched_getaffinity(0)) == 1)",
        essence="require(len(os.sched_getaffinity(0)) > 1)",
    ),
]

#: file_setattr(2) with FS_XFLAG_NODUMP.
_SET_ATTRIBUTES = (
    'call("file_setattr", -100, {}.encode(), struct.pack("Q4I", 0x80, 0, 0, 0, 0), 24, 0)'
)
_FOLDERS = "(os.environ['TMPDIR'], os.environ['HOME'])"
#: New folders inherit flags, so that the folders of tools in an inner workflow have them, too.
_FLAGGED = f"(*{_FOLDERS}, os.path.dirname(os.environ['TMPDIR']))"

#: Attacks on folders that the next job has, too. Slots restore the folders of their jobs.
TRACES = [
    Attack(
        "leaves an attribute of a folder",
        f"for folder in {_FOLDERS}: os.setxattr(folder, 'user.left', v.mark.encode())",
        next_job_code=f"require(any(os.listxattr(folder) for folder in {_FOLDERS}))",
        essence=NEVER,
    ),
    Attack(
        "leaves a folder's mode",
        f"for folder in {_FOLDERS}: os.chmod(folder, 0o2731)",
        next_job_code=f"require(any(os.stat(f).st_mode & 0o7777 == 0o2731 for f in {_FOLDERS}))",
        essence=NEVER,
    ),
    Attack(
        "leaves a folder's times",
        f"for folder in {_FOLDERS}: os.utime(folder, (1, v.key))",
        next_job_code=f"require(any(os.stat(folder).st_mtime == v.key for folder in {_FOLDERS}))",
        essence=NEVER,
    ),
    Attack(
        "leaves a folder that has grown",
        # The other folder keeps its size without a sandbox.
        """
names = [f"{os.environ['HOME']}/{number:0250}" for number in range(200)]
for name in names:
    os.mknod(name)
for name in names:
    os.unlink(name)
""",
        next_job_code="require(os.stat(os.environ['HOME']).st_size > 8192)",
        essence=NEVER,
    ),
    Attack(
        "leaves times of the folder for shared memory",
        "os.utime('/dev/shm', (1, v.key))",
        next_job_code="require(os.stat('/dev/shm').st_mtime == v.key)",
        essence="raise NothingError('outside, others use it in between')",
    ),
]

#: Flags of the file system on a folder, such as FS_NODUMP_FL, which excludes it from dumps.
FLAGS = [
    Attack(
        "leaves a flag of a folder",
        f"for folder in {_FLAGGED}: add_flag(folder, 0x40)",
        next_job_code=f"require(any(flags(folder) & 0x40 for folder in {_FLAGGED}))",
        essence="add_flag('.', 0x40)",
    ),
    Attack(
        "leaves a flag of a folder by a call of its own",
        f"for folder in {_FLAGGED}: {_SET_ATTRIBUTES.format('folder')}",
        next_job_code=f"require(any(flags(folder) & 0x40 for folder in {_FLAGGED}))",
        essence=_SET_ATTRIBUTES.format("'.'"),
    ),
    Attack(
        "leaves a folder's version",
        f"for folder in {_FLAGGED}: add_flag(folder, 1 << 20, *_VERSION)",
        next_job_code=f"require(any(flags(each, _VERSION[0]) & 1 << 20 for each in {_FLAGGED}))",
        essence="add_flag('.', 1 << 20, *_VERSION)",
    ),
]

#: A port of the loopback interface that other processes could know.
_PORT = "20000 + v.key % 10000"

NETWORK = [
    # The side that closes first waits for a minute.
    Attack(
        "leaves a port in use",
        f"""
server = socket.create_server(("127.0.0.1", {_PORT}))
client = socket.create_connection(server.getsockname())
server.accept()[0].close()
client.close()
""",
        next_job_code=f"""
try:
    socket.socket().bind(("127.0.0.1", {_PORT}))
except OSError as error:
    require(error.errno == errno.EADDRINUSE)
else:
    require(False)
""",
    ),
    Attack(
        "leaves a count of what it has sent",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        next_job_code="lines = open('/proc/net/snmp').read().splitlines()\n"
        "names, counts = (line.split() for line in lines if line.startswith('Udp:'))\n"
        "require(int(counts[names.index('OutDatagrams')]))",
    ),
]

DAEMONS = [
    _make_daemon_attack(
        "outlives its job", happened=lambda node_objects: node_objects.is_process_left()
    ),
    _make_daemon_attack(
        "is seen by the next job",
        later="require(any(read(f'/proc/{pid}/comm').strip() == v.token[-15:].encode()"
        " for pid in others()))",
    ),
    _make_daemon_attack(
        "leaves a socket without a file",
        does="left = socket.socket(socket.AF_UNIX); left.bind(f'\\0{v.token}-left'); left.listen()",
        later="socket.socket(socket.AF_UNIX).connect(f'\\0{v.token}-left')",
        refusals=UNREACHABLE,
    ),
]

ATTACKS = [*FILES, *SHARED, *INHERITED, *TRACES, *FLAGS, *NETWORK, *DAEMONS]
