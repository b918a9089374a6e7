"""Started as a script inside the sandbox: set limits, bring the loopback device up, become the command.

A script of its own rather than ``preexec_fn``, which may deadlock in a program with threads. Runs with ``-I -S`` and
imports little, since every command pays for it. Usage: ``sandbox_child.py NAME=NUMBER… -- COMMAND ARGUMENT…``
"""

from __future__ import annotations

import os
import resource
import sys

NOT_FOUND = 127
NOT_EXECUTABLE = 126


def _limit(name: str, value: int) -> None:
    which = getattr(resource, f"RLIMIT_{name}", None)
    if which is None:
        return
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(which, (value, value))
    except (OSError, ValueError):
        return  # run without a limit that cannot be set


def _loopback_up() -> None:
    """Tests of servers talk to 127.0.0.1, which is down in a new network namespace."""
    import fcntl
    import socket
    import struct

    up_and_running, set_flags = 0x1 | 0x40, 0x8914  # IFF_UP | IFF_RUNNING, SIOCSIFFLAGS (linux/sockios.h)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
            fcntl.ioctl(device, set_flags, struct.pack("16sh14x", b"lo", up_and_running))
    except OSError:
        return


def _tasks_of_user() -> int:
    """Threads that the user has now: the kernel counts all of them against RLIMIT_NPROC."""
    total, me = 0, os.getuid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == me:
                    total += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue
    return total


def _adopting_fork() -> int:
    """Fork as a process that inherits every orphan below it (prctl(2), PR_SET_CHILD_SUBREAPER), so that no daemon gets away.
    Returns the child's id, 0 in the child and where the system has no such thing."""
    try:
        import ctypes

        set_child_subreaper = 36
        if ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0) != 0:
            return 0
    except (ImportError, OSError, AttributeError):
        return 0
    return os.fork()


def _supervise(child: int) -> int:
    """Wait for the command, then end the processes it left. Returns its exit code, 128 + n after signal n."""
    import signal

    code = 0
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            break
    for _ in range(100):
        left = _children()
        if not left:
            break
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        try:
            while os.waitpid(-1, 0)[0]:
                pass
        except ChildProcessError:
            continue
    return 128 - code if code < 0 else code


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def main(arguments: list[str]) -> int:
    """Become the command; returns only when it cannot be started."""
    split = arguments.index("--")
    command = arguments[split + 1 :]
    supervised = False
    for setting in arguments[:split]:
        name, _, number = setting.partition("=")
        if name == "SUPERVISE":
            supervised = True
        elif name == "LOOPBACK":
            _loopback_up()
        elif name == "PROCESSES":
            if os.path.isdir("/proc/self/task"):
                _limit("NPROC", _tasks_of_user() + int(number))
        else:
            _limit(name, int(number))
    if supervised and (child := _adopting_fork()):
        return _supervise(child)
    try:
        os.execvp(command[0], command)
    except FileNotFoundError:
        print(f"{command[0]}: command not found", file=sys.stderr)
        return NOT_FOUND
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return NOT_EXECUTABLE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
