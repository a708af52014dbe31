"""Holders: clients that keep sessions, locks and elections while others wait for theirs.

A holder is asked questions on its standard input, a line each, "NUMBER VERB WORD...", and answers each when it can, in
any order: "NUMBER: OK TEXT", "NUMBER: ERROR TEXT", "NUMBER: SKIPPED" if its library has no such thing, or
"NUMBER: UNIMPLEMENTED" if the server has not. No word has a space.

    session NAME TTL            grants a lease of so many seconds and keeps it alive; answers with its number
    put NAME KEY VALUE          attaches the key to the session's lease
    ended NAME                  yes or no: what the client thinks of the session
    lock NAME PREFIX            waits for the lock; answers with the key that is the proof of holding it
    unlock NAME PREFIX
    campaign NAME PREFIX VALUE  waits to be elected; answers with the key, as lock
    resign NAME PREFIX
    increment KEY COUNT         adds 1 so many times; answers with how many succeeded and of how many it is not known
    close NAME                  revokes the session's lease"""

import re
import signal
import subprocess
import threading

from players import built

WATCHDOG_S = 300  # only ends a run that hangs


class Refused(Exception):
    """The code is ERROR, SKIPPED or UNIMPLEMENTED."""

    def __init__(self, code, text):
        super().__init__(f"{code} {text}".strip())
        self.code = code


class Pending:
    """A question that may not be answered yet."""

    def __init__(self, what):
        self.what, self.answered, self.answer = what, threading.Event(), None

    def set(self, code, text):
        self.answer = code, text
        self.answered.set()

    def done(self):
        return self.answered.is_set()

    def text(self):
        """Waits for the answer."""
        if not self.answered.wait(WATCHDOG_S):
            raise AssertionError(f"never answered: {self.what}")
        code, text = self.answer
        if code != "OK":
            raise Refused(code, f"{text} (to {self.what})" if text else self.what)
        return text


class Program:
    """A program with a library. Use as a context manager; leaving it kills it, so that it revokes nothing."""

    def __init__(self, words, endpoint):
        self.process = subprocess.Popen([*words, endpoint], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pending, self.asked = {}, 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()

    def ask(self, *words):
        self.asked += 1
        pending = self.pending[str(self.asked)] = Pending(" ".join(map(str, words)))
        try:
            self.process.stdin.write(f"{self.asked} {pending.what}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pending.set("ERROR", "the holder has ended")
        return pending

    def _read(self):
        for line in self.process.stdout:
            number, code, text = re.fullmatch(r"(\d+): (\S+) ?(.*)\n", line).groups()
            self.pending[number].set(code, text)
        for pending in list(self.pending.values()):
            if not pending.done():
                pending.set("ERROR", "the holder has ended")


class Etcdctl:
    """The commands of an etcdctl, each a process: lock and elect hold until they are interrupted. The lock's lease is
    its own, and so is that of elect, whose time is 60 s."""

    def __init__(self, words, endpoint):
        self.words = [*words, f"--endpoints={endpoint}", "--dial-timeout=100s", "--command-timeout=100s"]
        self.sessions, self.ttls_s, self.held = {}, {}, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [*self.held.values(), *(keeper for _, keeper in self.sessions.values())]:
            process.kill()
            process.wait()
            process.stdout.close()

    def ask(self, verb, *words):
        pending = Pending(" ".join(map(str, (verb, *words))))
        threading.Thread(target=self._carry_out, args=(pending, verb, [str(word) for word in words]),
                         daemon=True).start()
        return pending

    def _carry_out(self, pending, verb, words):
        if not hasattr(self, verb):
            return pending.set("SKIPPED", "")
        try:
            pending.set("OK", getattr(self, verb)(*words))
        except (subprocess.SubprocessError, AssertionError) as error:
            pending.set("ERROR", f"{error} {getattr(error, 'stderr', None) or ''}".replace("\n", " "))

    def _run(self, *words):
        return subprocess.run([*self.words, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=WATCHDOG_S, check=True).stdout

    def _start(self, *words):
        return subprocess.Popen([*self.words, *words], stdout=subprocess.PIPE, text=True)

    def session(self, name, ttl_s):
        lease = re.match(r"lease (\w+) granted", self._run("lease", "grant", ttl_s))[1]
        self.sessions[name], self.ttls_s[name] = (lease, self._start("lease", "keep-alive", lease)), ttl_s
        return str(int(lease, 16))

    def put(self, name, key, value):
        return self._run("put", key, value, f"--lease={self.sessions[name][0]}").strip()

    def ended(self, name):
        return "no" if self.sessions[name][1].poll() is None else "yes"

    def close(self, name):
        return self._run("lease", "revoke", self.sessions[name][0]).strip()

    def lock(self, name, prefix):
        return self._hold(name + prefix, "lock", prefix, f"--ttl={self.ttls_s[name]}")

    def campaign(self, name, prefix, value):
        return self._hold(name + prefix, "elect", prefix, value)

    def _hold(self, name, *words):
        process = self.held[name] = self._start(*words)
        key = process.stdout.readline().strip()
        if not key:
            raise AssertionError(f"etcdctl {' '.join(words)} ended with {process.wait()}")
        return key

    def unlock(self, name, prefix):
        process = self.held.pop(name + prefix)
        process.send_signal(signal.SIGINT)
        process.wait(WATCHDOG_S)
        process.stdout.close()
        return ""

    resign = unlock


def maker(kind, name):
    """What makes a holder of this client for an endpoint; raises NotHere if the client cannot be had."""
    words = built(name)
    return lambda endpoint: kind(words, endpoint)


# By the name that a user chooses it by: the kind, and its name for build.sh.
HOLDERS = {"go-3.4": (Program, "recipes-3.4"), "go-3.5.0": (Program, "recipes-3.5.0"),
           "go-3.5.9": (Program, "recipes"), "go-3.6": (Program, "recipes-3.6"), "go-3.7": (Program, "recipes-3.7"),
           "etcdctl": (Etcdctl, "etcdctl"), "etcdctl-3.6": (Etcdctl, "etcdctl-3.6"),
           "python-etcd3": (Program, "python-etcd3"), "js-etcd3": (Program, "js-etcd3"),
           "rust-etcd-client": (Program, "rust-etcd-client"), "jetcd": (Program, "jetcd")}
