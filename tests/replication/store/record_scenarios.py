#!/usr/bin/env python3
"""Sends the requests of scenario files to a real etcd, over its JSON gateway.

A line "> REQUEST" is followed by the expected RESULT, both as JSON; "#" starts a comment. Every file starts with an
empty etcd.

  record_scenarios.py FILE...          rewrites the results in the files with etcd's answers
  record_scenarios.py --check FILE...  prints where etcd's answers differ from the files ("-": standard input)
"""
import base64
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PATHS = {"range": "kv/range", "put": "kv/put", "delete_range": "kv/deleterange", "txn": "kv/txn",
         "compact": "kv/compaction"}
BYTES = ("key", "value", "range_end")
NUMBERS = ("revision", "count", "deleted", "create_revision", "mod_revision", "version", "lease")


def to_gateway(node):
    """Keys and values as base64, as protobuf's JSON needs them."""
    if isinstance(node, list):
        return [to_gateway(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {name: base64.b64encode(item.encode("latin1")).decode() if name in BYTES else to_gateway(item)
            for name, item in node.items()}


def from_gateway(node):
    """Plain text, numbers as numbers, the header reduced to its revision; no fields that are zero, false or empty."""
    if isinstance(node, list):
        return [from_gateway(item) for item in node]
    if not isinstance(node, dict):
        return node
    plain = {}
    for name, item in node.items():
        if name == "header":
            name, item = "revision", int(item.get("revision", 0))
        elif name in BYTES:
            item = base64.b64decode(item).decode("latin1")
        elif name in NUMBERS:
            item = int(item)
        else:
            item = from_gateway(item)
        if item not in (0, False, "", []):
            plain[name] = item
    return plain


def sorted_json(node):
    return json.dumps(node, sort_keys=True)


class Etcd:
    """An empty etcd on a free port, until the end of the with statement."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        client, peer = free_port(), free_port()
        self.url = f"http://127.0.0.1:{client}"
        peer_url = f"http://127.0.0.1:{peer}"
        self.process = subprocess.Popen(
            ["etcd", "--data-dir", self.folder.name, "--listen-client-urls", self.url, "--advertise-client-urls",
             self.url, "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
             "--initial-cluster", f"default={peer_url}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/health").read()
                return self
            except OSError:
                if self.process.poll() is not None:
                    sys.exit("etcd did not start")
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def ask(self, request):
        (kind, fields), = request.items()
        body = json.dumps(to_gateway(fields)).encode()
        try:
            with urllib.request.urlopen(f"{self.url}/v3/{PATHS[kind]}", data=body) as answer:
                return from_gateway(json.loads(answer.read()))
        except urllib.error.HTTPError as error:
            return {"error": json.loads(error.read())["error"]}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def record(path):
    with open(path) as file:
        lines = [line for line in file.read().splitlines() if line.startswith((">", "#")) or not line]
    with Etcd() as etcd, open(path, "w") as file:
        for line in lines:
            print(line, file=file)
            if line.startswith(">"):
                print(json.dumps(etcd.ask(json.loads(line[1:])), separators=(",", ":")), file=file)


def check(path):
    """Returns the number of answers that differ."""
    request, differences = None, 0
    with Etcd() as etcd, (sys.stdin if path == "-" else open(path)) as file:
        for line in file:
            if line.startswith(">"):
                request = json.loads(line[1:])
            elif request is not None and line.startswith("{"):
                answer = etcd.ask(request)
                if sorted_json(answer) != sorted_json(json.loads(line)):
                    differences += 1
                    print(f"> {json.dumps(request)}\nhere: {line.strip()}\netcd: {json.dumps(answer)}")
    return differences


def main(arguments):
    if arguments in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    flags = [word for word in arguments if word.startswith("-") and word != "-"]
    unknown = [flag for flag in flags if flag != "--check"]
    if unknown or flags == arguments:
        wrong = f"unknown flag {unknown[0]}" if unknown else "no file is given"
        print(f"record_scenarios.py: {wrong}; see --help", file=sys.stderr)
        return 2
    if arguments[:1] == ["--check"]:
        differences = sum(check(path) for path in arguments[1:])
        print(f"{differences} differences")
        return 1 if differences else 0
    for path in arguments:
        record(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
