#!/usr/bin/env python3
"""Every program explains itself: --help and -h print help and exit with 0; an unknown flag is named in one sentence,
with exit code 2. Neither does any work.

    tests/help_test.py PROGRAM    one program and its commands; ingot_binary (defs.bzl) makes such a test of each
    tests/help_test.py            every script of the repository that can be started by itself
"""
import os
import re
import signal
import subprocess
import sys

WATCHDOG_S = 120  # ends a program that works, or hangs, instead of answering
HELP_LINES_MIN = 3
UNKNOWN = "--no-such-flag"


def answer(command, folder=None):
    """(exit code, standard output, standard error); exit code None: the program went on and was killed."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, error = process.communicate(timeout=WATCHDOG_S)
        return process.returncode, output, error
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, *process.communicate()


def faults_of_help(command, flag, folder):
    code, output, error = answer([*command, flag], folder)
    if code != 0 or error or output.count("\n") < HELP_LINES_MIN:
        yield f"{flag}: exit code {code}, {output!r} on standard output, {error!r} on standard error"


def faults_of_refusal(command, folder):
    code, output, error = answer([*command, UNKNOWN], folder)
    if code != 2 or output or error.count("\n") != 1 or UNKNOWN not in error:
        yield f"{UNKNOWN}: exit code {code}, {output!r} on standard output, {error!r} on standard error"


def commands_in(help_text):
    """The names that CLI11 lists under "Subcommands:"."""
    _, _, listed = help_text.partition("Subcommands:\n")
    return re.findall(r"^  ([\w-]+)", listed.partition("\n\n")[0], flags=re.M)


def faults(command, folder=None):
    """Sentences that say what the program, or one of its commands, answers wrongly."""
    found = [fault for flag in ("--help", "-h") for fault in faults_of_help(command, flag, folder)]
    found += faults_of_refusal(command, folder)
    found = [f"{' '.join(command)} {fault}" for fault in found]
    for word in [] if found else commands_in(answer([*command, "--help"], folder)[1]):
        found += faults([*command, word], folder)
    return found


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def files(root):
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name != ".git" and not name.startswith("bazel-")]
        yield from (os.path.join(folder, name) for name in names if os.path.isfile(os.path.join(folder, name)))


def scripts(root):
    """(folder, command) of every file that can be started: by its mode, its first line or, in Python, its last part."""
    for path in sorted(files(root)):
        folder, name = os.path.split(path)
        executable = os.access(path, os.X_OK)
        python = name.endswith(".py") and not name.endswith("_test.py") and '__name__ == "__main__"' in read(path)
        if executable:
            yield folder, [f"./{name}"]
        elif python:
            yield root, ["env", f"PYTHONPATH={folder}:{root}", "python3", os.path.relpath(path, root)]
        elif read(path).startswith("#!") and not name.endswith("_test.py"):
            yield folder, ["bash", name]


def uncovered_binaries(root):
    """Build files with a rule that makes a binary and is not ingot_binary, so that this test would not see it."""
    for path in sorted(files(root)):
        foreign = r"^\s*(native\.)?\w*(?<!ingot)_binary\("
        if os.path.basename(path) == "BUILD.bazel" and re.search(foreign, read(path), re.M):
            yield f"{os.path.relpath(path, root)}: a binary that is not made by ingot_binary has no help test"


def main(arguments):
    if arguments in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if arguments and arguments[0].startswith("-"):
        print(f"help_test.py: unknown flag {arguments[0]}; see --help", file=sys.stderr)
        return 2
    if arguments:
        found = faults(arguments)
    else:
        root = os.path.dirname(os.path.realpath("WORKSPACE"))
        started = list(scripts(root))
        found = [fault for folder, command in started for fault in faults(command, folder)]
        found += uncovered_binaries(root)
        print(f"{len(started)} scripts")
        if not started:
            found.append(f"there are no scripts in {root}")
    print("\n".join(found) or "each explains itself")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
