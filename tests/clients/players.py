"""Starts the clients: programs that play a list of steps, and command lines, which are called once for each step."""

import json
import os
import re
import shlex
import subprocess
import tempfile
import threading

from answers import SKIPPED, UNKNOWN_ERROR

HERE = os.path.dirname(os.path.abspath(__file__))
WATCHDOG_S = 300  # only ends a client that hangs


class NotHere(Exception):
    """A client that this machine cannot have, with the reason."""


def built(name):
    """The words that start it, or the path of the descriptors."""
    done = subprocess.run([os.path.join(HERE, "build.sh"), name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode == 3:
        raise NotHere(done.stderr.strip().splitlines()[-1])
    if done.returncode:
        raise AssertionError(f"{name} does not build:\n{done.stderr}")
    return done.stdout.split()


class Client:
    def __init__(self, name, descriptors):
        self.words, self.descriptors = built(name), descriptors

    @staticmethod
    def endpoint(server):
        """How the client names the server; None: it cannot reach this one."""
        return server.endpoint


class Program(Client):
    """A player that gets all steps in one file, and prints a line for each: "STEP: CODE TEXT"."""

    def play(self, endpoint, steps, base, leave):
        """(code, text) by step. `leave` ends the server, when a step "until" is under way."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "steps.json")
            with open(path, "w") as file:
                json.dump([step.compiled(base) for step in steps if step.kind != "reflect"], file)
            with open(os.path.join(folder, "errors"), "w+") as errors:
                process = subprocess.Popen([*self.words, endpoint, self.descriptors, path], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, stderr=errors, text=True)
                found = self._read(process, leave)
                errors.seek(0)
                if process.returncode:
                    raise AssertionError(f"the client exited with {process.returncode}: {errors.read()[-2000:]}")
                return found

    @staticmethod
    def _read(process, leave):
        found = {}
        watchdog = threading.Timer(WATCHDOG_S, process.kill)
        watchdog.start()
        with process:
            for line in process.stdout:
                name, code, text = re.fullmatch(r"([\w-]+): (\S+) ?(.*)\n", line).groups()
                if code == "GOING":
                    leave()
                    process.stdin.write("\n")
                    process.stdin.flush()
                else:
                    found[name] = (code, text)
        watchdog.cancel()
        return found


class CommandLine(Client):
    """A program that makes one call."""

    def play(self, endpoint, steps, base, _leave):
        return {step.name: self.play_one(endpoint, step, base) for step in steps}

    @staticmethod
    def run(words, text):
        return subprocess.run(words, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=WATCHDOG_S, env={**os.environ, "ETCDCTL_API": "3"})


class Grpcurl(CommandLine):
    """Knows the messages by the server's reflection where there is one, else by the descriptors."""

    def __init__(self, name, descriptors):
        super().__init__(name, descriptors)
        self.reflection = {}  # whether a server has it, by endpoint

    def play_one(self, endpoint, step, base):
        fields = step.compiled(base)
        if step.kind == "reflect":
            done = self.run([*self.words, "-plaintext", endpoint, *fields["Words"]], "")
            return self.answer(done.returncode, " ".join(done.stdout.split()), done.stderr)
        if step.kind != "call" or fields.get("Gzip") or fields["Path"] != "/" + fields["Method"]:
            return SKIPPED, ""
        words = ["-plaintext", "-d", "@", *self.source(endpoint)]
        for name, value in fields.get("Metadata", {}).items():
            words += ["-H", f"{name}: {value}"] if not name.endswith("-bin") else []
        if "DeadlineMs" in fields:
            words.append(f"-max-time={fields['DeadlineMs'] / 1000}")
        done = self.run([*self.words, *words, endpoint, fields["Method"]], json.dumps(fields["Request"]))
        return self.answer(done.returncode, done.stdout, done.stderr)

    def source(self, endpoint):
        if endpoint not in self.reflection:
            self.reflection[endpoint] = not self.run([*self.words, "-plaintext", endpoint, "list"], "").returncode
        return [] if self.reflection[endpoint] else ["-protoset", self.descriptors, "-use-reflection=false"]

    @staticmethod
    def answer(exit_code, output, errors):
        refused = re.search(r"Code: (\w+)\s+Message: (.*)", errors)
        if refused:
            return refused.groups()
        return (UNKNOWN_ERROR, " ".join(errors.split())) if exit_code else ("OK", output)


class Etcdctl(CommandLine):
    """The code of an error is in its log, the text in what it prints last."""

    def play_one(self, endpoint, step, base):
        if step.etcdctl is None:
            return SKIPPED, ""
        done = self.run([*self.words, f"--endpoints={endpoint}", "--dial-timeout=100s", "--command-timeout=100s",
                         "--write-out=json", *shlex.split(step.command(base))], step.input)
        code = re.search(r"code = (\w+) desc", done.stderr)
        said = re.search(r"^Error: (?:.*desc = )?(.*?)\)?$", done.stderr, re.M)
        if done.returncode == 0:
            return "OK", done.stdout
        return code[1] if code else UNKNOWN_ERROR, said[1] if said else done.stderr


class EtcdctlByUrl(Etcdctl):
    def __init__(self, _name, descriptors):
        super().__init__("etcdctl", descriptors)

    @staticmethod
    def endpoint(server):
        return f"http://{server.endpoint}"


class EtcdctlBySocket(EtcdctlByUrl):
    @staticmethod
    def endpoint(server):
        return server.socket and f"unix://{server.socket}"


CLIENTS = {"go": Program, "etcd-client": Program, "etcd-client-3.4": Program, "etcd-client-3.5.0": Program,
           "etcd-client-3.6": Program, "etcd-client-3.7": Program, "python": Program, "java": Program,
           "grpcurl": Grpcurl, "etcdctl": Etcdctl, "etcdctl-url": EtcdctlByUrl, "etcdctl-socket": EtcdctlBySocket}
