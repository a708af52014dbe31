"""Sockets' names that a test binds, as the test's user or as another one. Only the standard library is imported here:
the whole file is given to a process of root, which becomes the other user (squatter_test.py)."""

import os
import socket
import sys


def bind(name, kind, listens):
    bound = socket.socket(socket.AF_UNIX, kind)
    bound.bind(b"\0" + name.encode())
    if listens:
        bound.listen(8)
    return bound


def fill(bound):
    """Lets one connection wait at a socket that takes no second one; returns its end."""
    bound.listen(0)
    waiting = socket.socket(socket.AF_UNIX, bound.type)
    waiting.connect(bound.getsockname())
    return waiting


def squat(user, names, full):
    """Becomes the user, binds the names and listens on them, prints "bound", and ends when standard input does. With
    `full` no connection to the names succeeds."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    held = [bind(name, kind, listens=True) for name, kind in names]
    held += [fill(bound) for bound in held if full]
    print("bound", flush=True)
    sys.stdin.read()
