"""The checkers of recorded histories: Porcupine, built on demand (porcupine/build.sh)."""

import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def build_porcupine():
    """(path of the checker, None), or (None, reason why there is none)."""
    done = subprocess.run([os.path.join(HERE, "porcupine", "build.sh")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode == 0:
        return done.stdout.strip(), None
    if done.returncode == 3:
        return None, done.stderr.strip()
    raise AssertionError("the judge does not build: " + done.stderr)


def porcupine(checker, *histories, timeout="120s"):
    """(exit code, one report per history, standard error)."""
    done = subprocess.run([checker, f"--timeout={timeout}", *histories], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr
