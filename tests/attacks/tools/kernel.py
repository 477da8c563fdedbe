"""Attacks on privileged functions of the kernel and on objects that the kernel keeps for all
processes of a user."""

import os

from tests.attacks.tools.attack import Attack, make_kernel_attack

_NEW_USER, _NEW_MOUNTS = "0x10000000", "0x00020000"

MOUNTS = [
    make_kernel_attack(
        "mounts a file system",
        """
os.mkdir("m")
c("mount", b"none", b"m", b"tmpfs", 0, None)
c("umount", b"m")
""",
    ),
    make_kernel_attack("opens a file system to mount", "os.close(call('fsopen', b'tmpfs', 1))"),
    make_kernel_attack("copies the tree of files", "os.close(call('open_tree', -100, b'/', 1))"),
    make_kernel_attack(
        "is master in a namespace of its own",
        f"""
os.mkdir("m")
def mount():
    c("unshare", {_NEW_USER} | {_NEW_MOUNTS})
    c("mount", b"none", b"m", b"tmpfs", 0, None)
in_child(mount)
""",
    ),
    # Filters of system calls cannot inspect the arguments of clone3.
    make_kernel_attack(
        "starts a process in a namespace of its own",
        f"""
wanted = struct.pack("8Q", {_NEW_USER}, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
pid = call("clone3", wanted, len(wanted))
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
""",
    ),
    Attack(
        "enters the namespace of the first process",
        "c('setns', os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)\n"
        "require(v.mark in open(v.data).read())",
        essence="c('setns', os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)",
    ),
    Attack(
        "enters the namespaces of another process",
        "c('setns', os.pidfd_open(v.process), 0x00020000)\nrequire(v.mark in open(v.data).read())",
        essence="c('setns', os.pidfd_open(os.getppid()), 0x00020000)",
    ),
]

#: The first process of a sandbox holds the sandbox.
FIRST = [
    make_kernel_attack(
        "opens the memory of the first process", "open('/proc/1/mem', 'rb').close()"
    ),
    make_kernel_attack(
        "reads where the first process keeps what", "require(open('/proc/1/maps').read())"
    ),
    make_kernel_attack("sees what the first process has open", "os.readlink('/proc/1/fd/0')"),
    make_kernel_attack("sees what the first process sees", "require(os.listdir('/proc/1/root/'))"),
    Attack(
        "looks into the folders that the sandbox has files from",
        "require(os.listdir('/.sources/0'))",
        essence="raise NothingError('outside there is no such folder')",
    ),
    Attack(
        "writes to the folders that the sandbox has files from",
        "os.mkdir('/.sources/0/left')",
        essence="raise NothingError('outside there is no such folder')",
    ),
]

DEVICES = [
    # Without a sandbox, the mode does not change.
    make_kernel_attack(
        "changes who may use a device",
        "os.chmod('/dev/full', stat.S_IMODE(os.stat('/dev/full').st_mode))",
    ),
    make_kernel_attack(
        "changes a device's times",
        "os.utime('/dev/full', (1, 2))\nrequire(os.stat('/dev/full').st_mtime == 2)",
    ),
    make_kernel_attack(
        "makes a device",
        """
os.mknod("b", 0o600 | stat.S_IFBLK, os.makedev(7, 0))
os.close(os.open("b", os.O_RDONLY))
""",
    ),
    make_kernel_attack(
        "has the node's disks",
        """
paths = ["/dev/" + name for name in os.listdir("/dev")]
require([path for path in paths if stat.S_ISBLK(os.lstat(path).st_mode)])
""",
    ),
    make_kernel_attack(
        "opens a disk",
        """
paths = ["/dev/" + name for name in os.listdir("/dev")]
disk = first(path for path in paths if stat.S_ISBLK(os.lstat(path).st_mode))
os.close(os.open(disk, os.O_RDONLY | os.O_NONBLOCK))
""",
    ),
    make_kernel_attack("opens the machine's memory", "os.close(os.open('/dev/mem', os.O_RDONLY))"),
    make_kernel_attack(
        "opens the memory of the kernel", "os.close(os.open('/dev/kmem', os.O_RDONLY))"
    ),
    make_kernel_attack(
        "opens the kernel's messages", "os.close(os.open('/dev/kmsg', os.O_RDONLY))"
    ),
    make_kernel_attack(
        "reads the kernel's messages", "c('klogctl', 3, ctypes.create_string_buffer(64), 64)"
    ),
    make_kernel_attack(
        "reads what pages of memory are used for", "require(open('/proc/kpageflags', 'rb').read(8))"
    ),
    make_kernel_attack(
        "reads what timers others have set", "require(open('/proc/timer_list').read(1))"
    ),
    make_kernel_attack(
        "reads about serial ports", "require(open('/proc/tty/driver/serial').read(1))"
    ),
    Attack(
        "types on a terminal",
        """
def type_there():
    os.setsid()
    terminal = os.open(v.terminal, os.O_RDWR)
    fcntl.ioctl(terminal, 0x5412, b"x")  # TIOCSTI
in_child(type_there)
""",
        essence="""
_, there = os.openpty()
def type_there():
    os.setsid()
    fcntl.ioctl(os.open(os.ttyname(there), os.O_RDWR), 0x5412, b"x")
in_child(type_there)
""",
    ),
    Attack(
        "writes on a terminal",
        "os.write(os.open(v.terminal, os.O_RDWR | os.O_NOCTTY), b'more')",
        is_successful=lambda node_objects: node_objects.has_terminal_input(),
    ),
]

RIGHTS = [
    make_kernel_attack(
        "has rights of root",
        "require(int(open('/proc/self/status').read().split('CapEff:')[1].split()[0], 16))",
    ),
    make_kernel_attack(
        "can gain rights",
        "require(open('/proc/self/status').read().split('NoNewPrivs:')[1].split()[0] == '0')",
    ),
    make_kernel_attack(
        "becomes another user by a program",
        """
with open("/usr/bin/id", "rb") as program, open("x", "wb") as own:
    own.write(program.read())
os.chown("x", 65534, -1)
os.chmod("x", 0o4755)
with os.popen("./x") as told:
    require("euid=65534" in told.read(), "it is still itself")
""",
        # The namespace of an ordinary user has no other users.
        refusals=["EINVAL"] if os.geteuid() else [],
    ),
    # There may be no other user in the namespace.
    make_kernel_attack("becomes another user", "os.setuid(1)", refusals=["EINVAL"]),
    # The name does not change.
    make_kernel_attack(
        "names the machine",
        "name = os.uname().nodename.encode(); c('sethostname', name, len(name))",
    ),
    # The file is not open, but the kernel checks the permission first.
    make_kernel_attack(
        "loads a module",
        """
try:
    call("finit_module", -1, b"", 0)
except OSError as error:
    if error.errno != errno.EBADF:
        raise
""",
    ),
    make_kernel_attack(
        "uses bpf",
        'os.close(call("bpf", 0, struct.pack("IIII", 2, 4, 4, 1).ljust(64, b"\\0"), 64))',
    ),
    make_kernel_attack(
        "uses perf_event_open",
        """
wanted = struct.pack("IIQQQQQ", 1, 64, 0, 0, 0, 0, 0x60).ljust(64, b"\\0")
os.close(call("perf_event_open", wanted, 0, -1, -1, 0))
""",
    ),
    make_kernel_attack("uses userfaultfd", "os.close(call('userfaultfd', 1))"),
    make_kernel_attack(
        "uses io_uring",
        "ring = ctypes.create_string_buffer(120); os.close(call('io_uring_setup', 1, ring))",
    ),
]  # fmt: skip

#: Objects that all processes of the user can find by a number or a name.
SHARED = [
    Attack(
        "reads shared memory",
        "place = attached(c('shmget', v.key, 0, 0))\n"
        "require(ctypes.string_at(place, len(v.mark)) == v.mark.encode())",
    ),
    Attack(
        "takes a message",
        """
text = ctypes.create_string_buffer(128)
c("msgrcv", c("msgget", v.key, 0), text, 64, 0, 0o4000)
require(v.mark.encode() in text.raw)
""",
    ),
    Attack(
        "reads a key",
        """
key = call("keyctl", 10, -4, b"user", v.token.encode(), 0)
text = ctypes.create_string_buffer(64)
call("keyctl", 11, key, text, 64)
require(text.value == v.mark.encode())
""",
        essence="call('keyctl', 0, -4, 1)",
    ),
    Attack(
        "reads the names of keys",
        "require(v.token in open('/proc/keys').read())",
        essence="require(open('/proc/keys').read())",
    ),
    make_kernel_attack("reads how many keys users have", "require(open('/proc/key-users').read())"),
    make_kernel_attack("has a keyring", "call('keyctl', 0, -3, 1)"),
]

ATTACKS = [*MOUNTS, *FIRST, *DEVICES, *RIGHTS, *SHARED]
