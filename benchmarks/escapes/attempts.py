"""Attempts to get out of a sandbox or to harm the machine: programs that print ESCAPED where they succeed."""

from benchmarks.escapes.attempt import Attempt, links_stay_closed, pipes_do_not_hang
from misstep_harness.workspace import Limits

LIMITS = Limits(seconds=20, memory_mb=256, processes=32, output_bytes=1 << 16, file_mb=16, disk_mb=48)

ATTEMPTS: dict[str, Attempt] = {
    "write_outside": Attempt(
        "write to the system, to `/dev`, and to a folder that everyone may write to",
        """
        for path in ("/usr/escaped", "/etc/escaped", "/escaped", "/dev/escaped", "/home/escaped", "/var/tmp/escaped",
                     "/proc/sys/kernel/domainname", T["folder"] + "/escaped", T["secret"]):
            tried(path, lambda: write(path))
        """,
    ),
    "secret_file": Attempt(
        "read a secret file, directly and through `/proc`",
        """
        for path in (T["secret"], "/proc/1/root" + T["secret"], "/proc/self/root" + T["secret"],
                     f"/proc/{T['process']}/root" + T["secret"], "/etc/shadow"):
            tried(path, lambda: read(path) or path == "/etc/shadow")
        """,
        unsandboxed=True,
    ),
    "secret_variable": Attempt(
        "read a secret variable, its own and through `/proc/*/environ`",
        """
        tried("own", lambda: T["marker"] in os.environ.values())
        for process in {os.getppid(), 1, *range(T["process"] - 20, T["process"] + 5)}:
            tried(process, lambda: read(f"/proc/{process}/environ"))
        """,
        unsandboxed=True,
    ),
    "loopback": Attempt(
        "connect to a listener on the machine's loopback address",
        """
        for address in ("127.0.0.1", "localhost"):
            tried(address, lambda: socket.create_connection((address, T["port"]), timeout=2))
        """,
        unsandboxed=True,
    ),
    "abstract_socket": Attempt(
        "connect to an abstract Unix socket of the machine",
        """
        tried("abstract", lambda: socket.socket(socket.AF_UNIX).connect("\\0" + T["abstract"]))
        """,
        unsandboxed=True,
    ),
    "other_networks": Attempt(
        "open raw, packet and virtual machine sockets",
        """
        for family, kind, protocol in ((socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_PACKET, socket.SOCK_RAW, 3),
                                       (40, socket.SOCK_STREAM, 0), (38, socket.SOCK_SEQPACKET, 0)):
            tried(family, lambda: socket.socket(family, kind, protocol))
        """,
    ),
    "datagrams": Attempt(
        "send datagrams beyond the machine",
        """
        def send():
            sent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sent.connect(("192.0.2.1", 9))
            return sent.getsockname()[0] != "127.0.0.1"
        tried("datagram", send)
        """,
    ),
    "fork_bomb": Attempt(
        "start 300 processes",
        """
        started = 0
        try:
            for _ in range(300):
                if not os.fork():
                    time.sleep(30)
                    os._exit(0)
                started += 1
        except OSError as error:
            print("refused:", error)
        if started > 40:
            time.sleep(1)
            print("ESCAPED", started)
        """,
        ends=("exited", "signal"),
    ),
    "memory_of_one": Attempt(
        "take 2 GB in one process",
        """
        tried("allocate", lambda: len(b"x" * (2 << 30)))
        """,
        ends=("exited", "memory", "signal"),
    ),
    "memory_of_many": Attempt(
        "take 100 MB in each of 8 processes",
        """
        holding = []
        for _ in range(8):
            process = os.fork()
            if not process:
                try:
                    held = b"x" * (100 << 20)
                    time.sleep(15)
                finally:
                    os._exit(1)
            holding.append(process)
        time.sleep(5)
        left = [process for process in holding if os.waitpid(process, os.WNOHANG) == (0, 0)]
        print("ESCAPED" if len(left) > 2 else "refused:", len(left))
        """,
        ends=("memory", "signal", "exited"),
    ),
    "memory_without_owner": Attempt(
        "hide memory in files without a name and in shared memory",
        """
        def hide():
            for _ in range(60):
                os.write(os.memfd_create("hidden"), b"x" * (15 << 20))
            time.sleep(3)
        def segment():
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.shmget(0, 64 << 20, 0o1600) < 0:
                raise OSError(ctypes.get_errno(), "shmget")
        tried("segment", segment)
        tried("files", hide)
        """,
        ends=("memory", "exited", "signal"),
    ),
    "disk_one_file": Attempt(
        "write one file of 100 MB",
        """
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        def fill():
            with open("big", "wb", buffering=0) as file:
                while file.tell() < 100 << 20:
                    file.write(b"x" * (1 << 20))
        tried("fill", fill)
        """,
        ends=("exited", "disk"),
    ),
    "disk_many_files": Attempt(
        "write many files, 200 MB in all",
        """
        def fill():
            for number in range(20):
                with open(f"big{number}", "wb") as file:
                    file.write(b"x" * (10 << 20))
            time.sleep(3)
        tried("fill", fill)
        """,
        ends=("disk",),
    ),
    "disk_without_name": Attempt(
        "fill the disk with open files that have no name",
        """
        def fill():
            for number in range(20):
                file = os.open("big", os.O_RDWR | os.O_CREAT)
                os.unlink("big")
                os.write(file, b"x" * (10 << 20))
            time.sleep(3)
        tried("fill", fill)
        """,
        ends=("disk", "exited"),
    ),
    "disk_deep": Attempt(
        "hide files in folders nested 1,000 deep",
        """
        for _ in range(1000):
            os.mkdir("d")
            os.chdir("d")
        for number in range(20):
            with open(f"big{number}", "wb") as file:
                file.write(b"x" * (10 << 20))
        time.sleep(3)
        print("ESCAPED")
        """,
        ends=("disk",),
    ),
    "temporary_files": Attempt(
        "fill `/tmp`, the folder for temporary files and `/dev/shm`",
        """
        def fill(folder):
            for number in range(20):
                with open(f"{folder}/escapes{number}", "wb") as file:
                    file.write(b"x" * (10 << 20))
            time.sleep(1)
        for folder in ("/tmp", os.environ["TMPDIR"], "/dev/shm"):
            tried(folder, lambda: fill(folder))
        """,
        ends=("exited", "disk"),
    ),
    "endless_output": Attempt(
        "print without end",
        """
        while True:
            print("x" * 1000)
        """,
        ends=("output",),
    ),
    "endless_time": Attempt(
        "run without end, deaf to signals",
        """
        for number in range(1, 32):
            try:
                signal.signal(number, signal.SIG_IGN)
            except OSError:
                pass
        while True:
            pass
        """,
        ends=("time",),
    ),
    "links": Attempt(
        "leave links to a secret for the host to follow",
        """
        os.symlink(T["secret"], "link")
        os.symlink(T["folder"], "folder")
        os.symlink("../" * 20 + T["folder"].lstrip("/"), "up")
        tried("read", lambda: read("link"))
        tried("write", lambda: write("folder/escaped"))
        tried("hard", lambda: os.link(T["secret"], "hard"))
        """,
        check=links_stay_closed,
    ),
    "dots": Attempt(
        "leave the workspace by `..`",
        """
        up = "../" * 20 + T["folder"].lstrip("/")
        tried("read", lambda: read(up + "/secret"))
        tried("write", lambda: write(up + "/escaped"))
        """,
    ),
    "pipes": Attempt(
        "leave pipes and sockets for the host to hang on",
        """
        os.mkfifo("pipe")
        socket.socket(socket.AF_UNIX).bind("socket")
        """,
        check=pipes_do_not_hang,
    ),
    "signals": Attempt(
        "signal the parent, process 1, everyone, and a process of the machine",
        """
        for process, number in ((T["process"], signal.SIGKILL), (os.getppid(), signal.SIGCONT), (1, signal.SIGCONT),
                                (-1, signal.SIGCONT)):
            try:
                os.kill(process, number)
            except OSError as error:
                print("refused:", process, error)
        """,
    ),
    "other_memory": Attempt(
        "trace a process of the machine and read its memory",
        """
        libc = ctypes.CDLL(None, use_errno=True)
        tried("trace", lambda: libc.ptrace(16, T["process"], 0, 0) == 0)
        tried("memory", lambda: bool(open(f"/proc/{T['process']}/maps").read()))
        """,
    ),
    "background": Attempt(
        "leave a process behind, in a session of its own, its parent dead",
        """
        if not os.fork():
            os.setsid()
            if not os.fork():
                for number in range(3):
                    os.close(number)
                time.sleep(600)
            os._exit(0)
        os.wait()
        """,
    ),
    "snooping": Attempt(
        "see the machine's processes in `/proc`",
        """
        def seen():
            for process in filter(str.isdigit, os.listdir("/proc")):
                if int(process) != os.getpid() and b"sleep 600 & wait" in open(f"/proc/{process}/cmdline", "rb").read():
                    return True
            return False
        tried("seen", seen)
        """,
        unsandboxed=True,
    ),
    "set_user_id": Attempt(
        "become root, by a call and by a set-user-id program",
        """
        def become():
            os.setuid(0)
            return os.path.exists(T["folder"])
        tried("setuid", become)
        tried("setgid", lambda: (os.setgid(0), os.setgroups([0])) and os.path.exists(T["folder"]))
        def program():
            import shutil
            shutil.copy("/usr/bin/id", "id")
            os.chmod("id", 0o6755)
            return b"uid=0" in subprocess.run(["./id"], capture_output=True).stdout
        tried("program", program)
        def substitute():
            return b"uid=0" in subprocess.run(["su", "-c", "id"], capture_output=True, stdin=subprocess.DEVNULL).stdout
        tried("su", substitute)
        """,
    ),
    "devices": Attempt(
        "make device files and open the machine's devices",
        """
        import stat
        for name, kind, major, minor in (("disk", stat.S_IFBLK, 254, 0), ("disk8", stat.S_IFBLK, 8, 0),
                                         ("mem", stat.S_IFCHR, 1, 1)):
            tried(name, lambda: os.mknod(name, kind | 0o666, os.makedev(major, minor)))
        for path in ("/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/fuse", "/dev/kvm"):
            tried(path, lambda: os.open(path, os.O_RDWR))
        """,
    ),
    "namespaces": Attempt(
        "make user namespaces, mount, change the root",
        """
        libc = ctypes.CDLL(None, use_errno=True)
        def call(done):
            if done != 0:
                raise OSError(ctypes.get_errno(), "refused")
        tried("user", lambda: call(libc.unshare(0x10000000)))
        tried("mount", lambda: call(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)))
        tried("unmount", lambda: call(libc.umount2(b"/proc", 2)))
        tried("chroot", lambda: os.chroot("/usr"))
        tried("hostname", lambda: socket.sethostname("escaped"))
        """,
    ),
    "keys": Attempt(
        "use the key rings of the session, trace the kernel",
        """
        libc = ctypes.CDLL(None, use_errno=True)
        import platform
        numbers = {"x86_64": (250, 248, 298, 321), "aarch64": (219, 217, 241, 280)}[platform.machine()]
        def call(*arguments):
            if libc.syscall(*arguments) < 0:
                raise OSError(ctypes.get_errno(), "refused")
        tried("keyctl", lambda: call(numbers[0], 0, -3, 1))
        tried("add_key", lambda: call(numbers[1], b"user", b"escapes", b"x", 1, -3))
        tried("perf", lambda: call(numbers[2], (ctypes.c_char * 128)(), 0, -1, -1, 0))
        tried("bpf", lambda: call(numbers[3], 0, (ctypes.c_char * 128)(), 128))
        """,
    ),
}
