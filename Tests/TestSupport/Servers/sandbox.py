#!/usr/bin/python3
"""Runs a program under the system-call filter of a systemd unit, on machines where systemd does not run (libseccomp2,
systemd-analyze).

usage: sandbox.py UNIT COMMAND…

It applies the unit's SystemCallFilter, SystemCallErrorNumber=EPERM, RestrictAddressFamilies, MemoryDenyWriteExecute and UMask, as
systemd does: a system call that the filter does not allow fails with EPERM.
"""
import ctypes, errno, os, socket, subprocess, sys

ALLOW, ERROR = 0x7FFF0000, 0x00050000 | errno.EPERM
EQUAL, MASKED_EQUAL = 4, 7
PROT_WRITE, PROT_EXEC = 2, 4


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def settings(path):
    """Returns the values of each setting, in their order."""
    found = {}
    for line in open(path):
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            found.setdefault(name, []).append(value)
    return found


def calls(name):
    """Returns the system calls of a set such as @system-service, with those of the sets that it contains."""
    if not name.startswith("@"):
        return {name}
    lines = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True).stdout
    members = [line.strip() for line in lines.splitlines() if line.startswith("    ") and "#" not in line]
    return set().union(*(calls(member) for member in members))


def allowed(filters):
    total = set()
    for line in filters:
        is_denied = line.startswith("~")
        named = set().union(*(calls(name) for name in line.lstrip("~").split()))
        total = total - named if is_denied else total | named
    return total


unit = settings(sys.argv[1])
library = ctypes.CDLL("libseccomp.so.2")
library.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(library.seccomp_init(ERROR))


def rule(action, name, *comparisons):
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number >= 0:
        array = (Comparison * len(comparisons))(*comparisons)
        library.seccomp_rule_add_array(context, action, number, len(comparisons), array)


names = allowed(unit["SystemCallFilter"])
for name in names - {"socket", "mmap", "mprotect"}:
    rule(ALLOW, name)
for family in unit["RestrictAddressFamilies"][0].split():
    number = 16 if family == "AF_NETLINK" else getattr(socket, family)
    rule(ALLOW, "socket", Comparison(0, EQUAL, number, 0))
if unit["MemoryDenyWriteExecute"] == ["yes"]:
    for protection in (0, PROT_WRITE, PROT_EXEC):
        rule(ALLOW, "mmap", Comparison(2, MASKED_EQUAL, PROT_WRITE | PROT_EXEC, protection))
    rule(ALLOW, "mprotect", Comparison(2, MASKED_EQUAL, PROT_EXEC, 0))
else:
    rule(ALLOW, "mmap")
    rule(ALLOW, "mprotect")
os.umask(int(unit["UMask"][0], 8))
# The filter must hold for the program, which is not root in the unit either.
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
if library.seccomp_load(context) != 0:
    sys.exit("sandbox.py: the kernel takes no filter")
os.execvp(sys.argv[2], sys.argv[2:])
