"""Writes to an instance by JSON over HTTP, which costs no process each."""

import base64
import json
import re
import time
import urllib.error
import urllib.request

from tests.daemon.ingot_daemon import TURNED_AWAY, WATCHDOG_S


def in_base64(text):
    return base64.b64encode(text.encode()).decode()


def call(daemon, name, question):
    """The answer. Repeats what the front end gives up because no slot is decided, as ingot_daemon.ctl does."""
    end = time.monotonic() + WATCHDOG_S
    while True:
        try:
            with urllib.request.urlopen(f"http://{daemon.endpoint}/v3/kv/{name}", json.dumps(question).encode(),
                                        WATCHDOG_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            if not re.search(TURNED_AWAY, text) or time.monotonic() > end:
                raise AssertionError(f"{name}: {text}") from None


def revision_of(answer):
    return int(answer["header"]["revision"])


def put(daemon, key, value):
    """The write's revision."""
    return revision_of(call(daemon, "put", {"key": in_base64(key), "value": in_base64(value)}))


def put_together(daemon, values):
    """In one transaction."""
    puts = [{"requestPut": {"key": in_base64(key), "value": in_base64(value)}} for key, value in values.items()]
    return revision_of(call(daemon, "txn", {"success": puts}))


def delete(daemon, key):
    return revision_of(call(daemon, "deleterange", {"key": in_base64(key)}))


def fields_of(daemon, key):
    """A key's create_revision, mod_revision and version, as the daemon answers them."""
    [kv] = call(daemon, "range", {"key": in_base64(key)})["kvs"]
    return tuple(int(kv[name]) for name in ("create_revision", "mod_revision", "version"))
