"""Attacks on other processes of the node: on what they know and what they do."""

from collections.abc import Callable

from tests.attacks.tools.attack import Attack, make_kernel_attack
from tests.attacks.tools.node_objects import NodeObjects

#: Succeeds if the kernel lets a process inspect a process that it has not started. The waiting
#: process takes the place of the victim.
_LOOKS_INTO_OTHERS = """
waiting = os.fork()
if waiting == 0:
    signal.pause()
try:
    in_child(lambda: open(f"/proc/{waiting}/mem", "r+b").close())
finally:
    os.kill(waiting, signal.SIGKILL)
    os.waitpid(waiting, 0)
"""
#: Succeeds on a machine with several cores.
_SEVERAL_CORES = "require(len(os.sched_getaffinity(0)) > 1)"

_VECTORS = """
there = struct.pack("PN", v.address, len(v.mark))
own = ctypes.create_string_buffer(v.mark[::-1].encode())
here = struct.pack("PN", ctypes.addressof(own), len(v.mark))
"""


def _make_inspection_attack(
    name: str, code: str, happened: Callable[[NodeObjects], bool] | None = None
) -> Attack:
    return Attack(name, code, is_successful=happened, essence=_LOOKS_INTO_OTHERS)


def _make_priority_attack(name: str, code: str, only_if: str = "") -> Attack:
    return Attack(
        name,
        code,
        is_successful=lambda node_objects: node_objects.is_process_changed(),
        essence=only_if,
    )


KNOWLEDGE_ATTACKS = [
    _make_inspection_attack(
        "reads the environment of the pilot",
        "require(b'SLUICE_SECRET' in open(f'/proc/{v.pilot}/environ', 'rb').read())",
    ),
    _make_inspection_attack(
        "reads the environment of its slot",
        "require(b'SLUICE_SECRET' in open(f'/proc/{v.slot}/environ', 'rb').read())",
    ),
    _make_inspection_attack(
        "reads the environment of any process",
        """
found = [read(f"/proc/{pid}/environ") for pid in others()]
require(any(b"SLUICE_SECRET" in one or b"VICTIM_SECRET" in one for one in found))
""",
    ),
    Attack(
        "reads the arguments of any process",
        "require(any(v.mark[::-1].encode() in read(f'/proc/{pid}/cmdline') for pid in others()))",
    ),
    # Paths in the folder of the slot belong to the job, too.
    Attack(
        "finds the pilot's paths in the arguments of any process",
        """
words = [word for pid in others() for word in read(f"/proc/{pid}/cmdline").split(b"\\0")]
own = f"{v.slots}/{v.slot}-"
require(any(word.startswith(v.run_folder.encode()) and not word.startswith(own.encode())
            for word in words))
""",
    ),
    Attack("sees another process", "require(v.process in others())"),
    Attack("sees its slot", "require(v.slot in others())"),
    _make_inspection_attack(
        "reads where the slot's memory is", "require(open(f'/proc/{v.slot}/maps').read())"
    ),
    _make_inspection_attack(
        "reads the memory of another process as a file",
        """
with open(f"/proc/{v.process}/mem", "rb", buffering=0) as file:
    file.seek(v.address)
    require(file.read(len(v.mark)) == v.mark.encode())
""",
    ),
    _make_inspection_attack(
        "reads the memory of another process",
        _VECTORS
        + """
c("process_vm_readv", v.process, here, 1, there, 1, 0)
require(own.value == v.mark.encode())
""",
    ),
    _make_inspection_attack(
        "takes a descriptor of another process",
        """
file = call("pidfd_getfd", os.pidfd_open(v.process), v.descriptor, 0)
require(v.mark.encode() == os.pread(file, 99, 0))
""",
    ),
    # The process that starts the tool could leave a descriptor open. Slots without sandbox do not.
    Attack(
        "has descriptors of others",
        """
held = {int(name) for name in os.listdir("/proc/self/fd")} - {0, 1, 2, v.answer}
mine = {name for name in held if os.path.exists(f"/proc/self/fd/{name}")}
require(mine, "it has its three streams alone")
""",
        essence="raise NothingError('slots leave none open')",
    ),
]

EFFECT_ATTACKS = [
    # PTRACE_SEIZE does not stop the process and ends with the tracer.
    _make_inspection_attack("traces another process", "c('ptrace', 0x4206, v.process, 0, 0)"),
    _make_inspection_attack("traces its slot", "c('ptrace', 0x4206, v.slot, 0, 0)"),
    _make_inspection_attack(
        "writes to the memory of another process",
        _VECTORS + 'c("process_vm_writev", v.process, here, 1, there, 1, 0)',
        lambda node_objects: node_objects.restore_memory_if_changed(),
    ),
    _make_inspection_attack(
        "writes to the memory of another process as a file",
        """
with open(f"/proc/{v.process}/mem", "r+b", buffering=0) as file:
    file.seek(v.address)
    file.write(v.mark[::-1].encode())
""",
        lambda node_objects: node_objects.restore_memory_if_changed(),
    ),
    Attack(
        "sends a signal to another process",
        "os.kill(v.process, signal.SIGUSR1)",
        is_successful=lambda node_objects: node_objects.has_process_got_signal(),
    ),
    Attack(
        "sends a signal by a handle",
        "signal.pidfd_send_signal(os.pidfd_open(v.process), signal.SIGUSR1)",
        is_successful=lambda node_objects: node_objects.has_process_got_signal(),
    ),
    # The kernel checks signal 0 like other signals and does not send it.
    Attack("could end the pilot", "os.kill(v.pilot, 0)"),
    Attack("could end its slot", "os.kill(v.slot, 0)"),
    Attack("could end its slot's group", "os.killpg(os.getpgid(v.slot), 0)"),
    # kill(-1) reaches all of these processes.
    Attack(
        "could end all processes",
        """
def reached(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
os.kill(-1, 0)
require(set(filter(reached, others())) - ancestors(1), "there are none but its own")
""",
    ),
    _make_priority_attack(
        "makes another process give way",
        "os.setpriority(0, v.process, os.getpriority(0, v.process) + 1)",
    ),
    _make_priority_attack(
        "limits another process", "lower(v.process)"
    ),
    _make_priority_attack("moves another process to one core",
            "os.sched_setaffinity(v.process, {min(os.sched_getaffinity(v.process))})",
            _SEVERAL_CORES),
    _make_priority_attack("schedules another process otherwise",
            "os.sched_setscheduler(v.process, os.SCHED_BATCH, os.sched_param(0))"),
    _make_priority_attack("has another process killed first",
            "open(f'/proc/{v.process}/oom_score_adj', 'w').write('900')"),
    make_kernel_attack(
        "goes before all other processes",
        "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
    ),
]  # fmt: skip

ATTACKS = [*KNOWLEDGE_ATTACKS, *EFFECT_ATTACKS]
