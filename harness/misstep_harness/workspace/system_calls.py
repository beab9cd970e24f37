"""A filter of system calls for what no namespace keeps apart: keys, other kinds of network, memory that nobody owns."""

import ctypes
import errno
import platform
import socket
import struct

from msgspec import Struct

_LANDLOCK_CREATE_RULESET, _TELL_VERSION = 444, 1
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_X32 = 0x40000000
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
_EVERYWHERE = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "pidfd_getfd": 438}


class _Machine(Struct, frozen=True):
    architecture: int
    socket: int
    refused: dict[str, int]


MACHINES = {
    "x86_64": _Machine(
        0xC000003E,
        41,
        {
            "shmget": 29,
            "syslog": 103,
            "kexec_load": 246,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "perf_event_open": 298,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "kexec_file_load": 320,
            "bpf": 321,
            "userfaultfd": 323,
            **_EVERYWHERE,
        },
    ),
    "aarch64": _Machine(
        0xC00000B7,
        198,
        {
            "kexec_load": 104,
            "syslog": 116,
            "shmget": 194,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "perf_event_open": 241,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "bpf": 280,
            "userfaultfd": 282,
            "kexec_file_load": 294,
            **_EVERYWHERE,
        },
    ),
}


def program(machine: str = "") -> bytes:
    """Return the filter as the kernel takes it (classic BPF, eight bytes an instruction); empty for an unknown machine.

    Source: the kernel's `Documentation/userspace-api/seccomp_filter.rst`.
    """
    numbers = MACHINES.get(machine or platform.machine())
    if numbers is None:
        return b""
    refuse = _code(_RETURN, _REFUSE | errno.EPERM)
    no_such_call = _code(_RETURN, _REFUSE | errno.ENOSYS)
    code = [_code(_LOAD, _ARCHITECTURE), _code(_EQUAL, numbers.architecture, 1, 0), no_such_call]
    code += [_code(_LOAD, _NUMBER), _code(_AT_LEAST, _X32, 0, 1), no_such_call]
    for number in numbers.refused.values():
        code += [_code(_EQUAL, number, 0, 1), refuse]
    code += [_code(_EQUAL, numbers.socket, 1, 0), _code(_RETURN, _ALLOW), _code(_LOAD, _FIRST_ARGUMENT)]
    for family in _FAMILIES:
        code += [_code(_EQUAL, family, 0, 1), _code(_RETURN, _ALLOW)]
    code.append(_code(_RETURN, _REFUSE | errno.EAFNOSUPPORT))
    return b"".join(code)


def _code(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has; 0 where it has none."""
    version = ctypes.CDLL(None, use_errno=True).syscall(
        _LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _TELL_VERSION
    )
    return max(int(version), 0)
