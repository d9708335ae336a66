"""What code tries in order to get out of a worker. The text is run inside one, by `test_escape`; nothing here runs by
itself.

`attempts(target)` gives the names of what succeeded. `control` must, the others must not.
"""

ATTACKS = r'''
import ctypes, io, mmap, os, posix, shutil, signal, socket, struct, sys

C = ctypes.CDLL(None, use_errno=True)
# Code sees a fixed number of its process and of its parent.
OWN, PARENT = C.getpid(), C.getppid()
CALLS = {}


def attack(function):
    CALLS[function.__name__] = function
    return function


def call(number, *arguments):
    """A system call by its number on x86-64."""
    result = C.syscall(ctypes.c_long(number), *[a if isinstance(a, bytes) else ctypes.c_long(a) for a in arguments])
    return result != -1


def reads(path):
    with io.open(path, "rb") as file:
        return b"secret" in file.read()


def writes(path):
    with io.open(path, "wb") as file:
        file.write(b"escaped")
    return True


@attack
def control(target):
    with io.open(target["readable"]) as file:
        return len(file.read()) > 0

@attack
def inherited_files(target):
    # The first, since others leave files open.
    found = []
    for number in range(3, 1024):
        try:
            where = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        # What Python itself opened, its own folder, and the pipe of an execution in a process of its own.
        if not where.startswith(("/proc/", "anon_inode:", "pipe:", "/usr", sys.prefix, sys.base_prefix, os.getcwd())):
            found.append((number, where))
    return len([one for one in found if not one[1].startswith("socket:")]) > 0

@attack
def read(target):
    return reads(target["secret"])

@attack
def read_by_descriptor(target):
    return b"secret" in os.read(os.open(target["secret"], os.O_RDONLY), 100)

@attack
def read_relative(target):
    return reads(os.path.relpath(target["secret"]))

@attack
def read_from_root(target):
    return reads("/proc/self/root" + target["secret"])

@attack
def read_by_folder(target):
    folder = os.open(os.path.dirname(target["secret"]), os.O_RDONLY | os.O_DIRECTORY)
    return b"secret" in os.read(os.open("secret", os.O_RDONLY, dir_fd=folder), 100)

@attack
def read_by_path_descriptor(target):
    number = os.open(target["secret"], os.O_PATH)
    return reads(f"/proc/self/fd/{number}")

@attack
def read_through_symlink(target):
    os.symlink(target["secret"], "link")
    return reads("link")

@attack
def read_through_linked_folder(target):
    os.symlink(os.path.dirname(target["secret"]), "folder")
    return reads("folder/secret")

@attack
def read_hard_link(target):
    os.link(target["secret"], "hard")
    return reads("hard")

@attack
def read_moved(target):
    os.rename(target["secret"], "moved")
    return reads("moved")

@attack
def read_copied(target):
    shutil.copyfile(target["secret"], "copied")
    return reads("copied")

@attack
def read_by_openat2(target):
    how = struct.pack("QQQ", 0, 0, 0)
    return call(437, -100, target["secret"].encode(), ctypes.addressof(ctypes.create_string_buffer(how)), 24)

@attack
def read_by_handle(target):
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    return call(303, -100, target["secret"].encode(), ctypes.addressof(handle), ctypes.addressof(mount), 0)

@attack
def list_home(target):
    return "secret" in os.listdir(os.path.dirname(target["secret"]))

@attack
def import_from_outside(target):
    sys.path.insert(0, os.path.dirname(target["secret"]))
    try:
        __import__("outside_module")
    finally:
        sys.path.pop(0)
    return True

@attack
def load_library_from_scratch(target):
    io.open("own.so", "wb").write(b"\x7fELF")
    os.chmod("own.so", 0o755)
    os.execv("own.so", ["own"])
    return True

@attack
def write(target):
    return writes(target["folder"] + "/new")

@attack
def overwrite(target):
    return writes(target["secret"])

@attack
def write_through_symlink(target):
    os.symlink(target["folder"] + "/new", "out")
    return writes("out")

@attack
def write_through_folder(target):
    os.symlink(target["folder"], "outfolder")
    return writes("outfolder/new")

@attack
def write_temporary(target):
    number = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
    return os.write(number, b"x") == 1

@attack
def write_shared_memory(target):
    return writes("/dev/shm/twincell-escape")

@attack
def rename_out(target):
    writes("inside")
    os.rename("inside", target["folder"] + "/new")
    return True

@attack
def link_out(target):
    writes("inside2")
    os.link("inside2", target["folder"] + "/new")
    return True

@attack
def make_folder(target):
    os.mkdir(target["folder"] + "/made")
    return True

@attack
def make_pipe(target):
    os.mkfifo(target["folder"] + "/pipe")
    return True

@attack
def make_device(target):
    os.mknod("node", 0o20600, os.makedev(1, 1))
    return True

@attack
def remove(target):
    os.remove(target["secret"])
    return True

@attack
def truncate(target):
    os.truncate(target["secret"], 0)
    return True

@attack
def change_mode(target):
    os.chmod(target["secret"], 0o777)
    return True

@attack
def change_times(target):
    os.utime(target["secret"], (1, 1))
    return True

@attack
def set_attribute(target):
    os.setxattr(target["secret"], "user.escaped", b"1")
    return True

@attack
def lock_file(target):
    return os.open(target["secret"], os.O_RDWR) >= 0

def connects(family, kind, address):
    with socket.socket(family, kind) as own:
        own.settimeout(1)
        own.connect(address)
        own.send(b"escaped")
    return True

@attack
def tcp(target):
    return connects(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", target["tcp"]))

@attack
def udp(target):
    return connects(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", target["udp"]))

@attack
def unix_socket(target):
    return connects(socket.AF_UNIX, socket.SOCK_STREAM, target["unix"])

@attack
def abstract_socket(target):
    return connects(socket.AF_UNIX, socket.SOCK_STREAM, target["abstract"])

@attack
def datagram_pair(target):
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    left.sendto(b"escaped", target["unix"])
    return True

@attack
def redirected_pair(target):
    left, right = socket.socketpair()
    left.connect(target["unix"])
    return True

@attack
def message_to_address(target):
    left, right = socket.socketpair()
    left.sendmsg([b"escaped"], [], 0, target["unix"])
    return True

@attack
def netlink(target):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    return True

@attack
def raw_packets(target):
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    return True

@attack
def virtual_socket(target):
    socket.socket(40, socket.SOCK_STREAM)
    return True

@attack
def resolve(target):
    socket.getaddrinfo("example.org", 80)
    return True

@attack
def shell(target):
    return posix.system("true") == 0

@attack
def program(target):
    started = os.posix_spawn("/bin/true", ["true"], {})
    return os.waitstatus_to_exitcode(os.waitpid(started, 0)[1]) == 0

@attack
def spawned(target):
    return os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1] == 0

@attack
def executed(target):
    os.execve("/bin/true", ["true"], {})
    return True

def forks(function):
    child = function()
    if child == 0:
        os._exit(0)
    return child > 0

@attack
def forked(target):
    return forks(os.fork)

@attack
def forked_terminal(target):
    return forks(lambda: os.forkpty()[0])

@attack
def forked_in_c(target):
    return forks(C.fork)

@attack
def forked_by_number(target):
    return forks(lambda: C.syscall(57))

@attack
def cloned(target):
    return forks(lambda: C.syscall(56, 17, 0, 0, 0, 0))

@attack
def cloned_anew(target):
    arguments = ctypes.create_string_buffer(struct.pack("8Q", 0, 0, 0, 0, 17, 0, 0, 0))
    return forks(lambda: C.syscall(435, ctypes.c_long(ctypes.addressof(arguments)), 64))

@attack
def executed_from_memory(target):
    number = C.syscall(319, b"x", 0)
    return number >= 0

@attack
def executed_by_descriptor(target):
    number = os.open("/bin/true", os.O_PATH)
    return call(322, number, b"", 0, 0, 0x1000)

@attack
def signal_to_parent(target):
    os.kill(PARENT, 0)
    return True

@attack
def stop_parent(target):
    os.kill(PARENT, signal.SIGWINCH)
    return True

@attack
def signal_to_all(target):
    os.kill(-1, 0)
    return True

@attack
def signal_to_thread_of_parent(target):
    return call(234, PARENT, PARENT, 0)

@attack
def queued_signal(target):
    return call(129, PARENT, 10, ctypes.addressof(ctypes.create_string_buffer(128)))

@attack
def handle_on_parent(target):
    return call(434, PARENT, 0)

@attack
def signal_by_timer(target):
    # Notified is a thread of another process.
    event = ctypes.create_string_buffer(struct.pack("qiii", 0, 10, 4, PARENT) + bytes(44))
    timer = ctypes.c_int()
    return call(222, 1, ctypes.addressof(event), ctypes.addressof(timer))

@attack
def priority_of_parent(target):
    os.setpriority(os.PRIO_PROCESS, PARENT, 10)
    return True

@attack
def processors_of_parent(target):
    os.sched_setaffinity(PARENT, {0})
    return True

@attack
def limit_of_parent(target):
    import resource
    resource.prlimit(PARENT, resource.RLIMIT_NOFILE)
    resource.prlimit(PARENT, resource.RLIMIT_NOFILE, (10, 10))
    return True

@attack
def trace_parent(target):
    return call(101, 16, PARENT, 0, 0)

@attack
def memory_of_parent(target):
    local = ctypes.create_string_buffer(16)
    vector = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(local), 8))
    return call(310, PARENT, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0)

@attack
def write_memory_of_parent(target):
    vector = ctypes.create_string_buffer(struct.pack("QQ", 4096, 8))
    return call(311, PARENT, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0)

@attack
def environment_of_parent(target):
    return len(io.open(f"/proc/{PARENT}/environ", "rb").read()) > 0

@attack
def memory_file_of_parent(target):
    return io.open(f"/proc/{PARENT}/mem", "rb").fileno() >= 0

@attack
def descriptors_of_parent(target):
    return len(os.listdir(f"/proc/{PARENT}/fd")) > 0

@attack
def folder_of_parent(target):
    return reads(f"/proc/{PARENT}/cwd/secret")

@attack
def environment_of_first(target):
    return len(io.open("/proc/1/environ", "rb").read()) > 0

@attack
def own_memory_file(target):
    return io.open("/proc/self/mem", "r+b").fileno() >= 0

@attack
def own_priority_for_the_killer(target):
    return writes("/proc/self/oom_score_adj")

@attack
def same_files(target):
    return call(312, OWN, PARENT, 0, 0, 0)

@attack
def mount(target):
    return call(165, b"none", b".", b"tmpfs", 0, 0)

@attack
def new_mount(target):
    return call(430, b"tmpfs", 0)

@attack
def unshare(target):
    return call(272, 0x10000000)

@attack
def join_namespace(target):
    return call(308, os.open("/proc/self/ns/net", os.O_RDONLY), 0)

@attack
def change_root(target):
    os.chroot(".")
    return True

@attack
def bpf(target):
    return call(321, 0, ctypes.addressof(ctypes.create_string_buffer(128)), 128)

@attack
def page_faults(target):
    return call(323, 0)

@attack
def ring(target):
    return call(425, 8, ctypes.addressof(ctypes.create_string_buffer(256)))

@attack
def performance_events(target):
    return call(298, ctypes.addressof(ctypes.create_string_buffer(128)), 0, -1, -1, 0)

@attack
def keys(target):
    return call(250, 0, -3, 1)

@attack
def shared_segment(target):
    return call(29, 0, 4096, 0o1600)

@attack
def shared_mapping(target):
    mmap.mmap(-1, 4096, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    return True

@attack
def message_queue(target):
    return call(240, b"twincell", 0o102, 0o600, 0)

@attack
def watch_files(target):
    return call(300, 0, 0)

@attack
def raise_limits(target):
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return True

@attack
def outlive(target):
    return C.prctl(1, 0) == 0

@attack
def be_dumpable(target):
    return C.prctl(4, 1) == 0

@attack
def privileges(target):
    os.setuid(0)
    os.setgid(0)
    C.prctl(38, 0)
    return C.prctl(39) == 0

@attack
def second_numbers(target):
    return call(0x40000000 + 39)

@attack
def other_architecture(target):
    # `int 0x80` takes the numbers of 32 bits: 2 is fork, 20 getpid.
    code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    return run() == OWN

@attack
def type_into_terminal(target):
    import fcntl
    fcntl.ioctl(0, 0x5412, b"x")
    return True

@attack
def secrets_of_environment(target):
    return "TWINCELL_TEST_SECRET" in os.environ or C.getenv(b"TWINCELL_TEST_SECRET") != 0


def attempts(target, only):
    done = []
    for name in only:
        try:
            if CALLS[name](target):
                done.append(name)
        except Exception:
            pass
    return done
'''

LINES = ATTACKS.splitlines()
NAMES = [line[4:].split("(")[0] for line, before in zip(LINES[1:], LINES, strict=False) if before == "@attack"]
# End the worker where they fail.
DEADLY = ["other_architecture"]
