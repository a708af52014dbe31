"""A server's keys over the JSON gateway, which etcd and ingotd both have. A write that fails for a while is made again
until it succeeds, so that a program's writer goes on through a failover."""

import base64
import http.client
import json
import time

WATCHDOG_S = 300  # only ends a test that hangs
PAUSE_S = 0.02
# HTTP's status of an answer that says: not now.
LATER = (429, 503, 504)


def b64(text):
    return base64.b64encode(text.encode()).decode()


def text_of(encoded):
    return base64.b64decode(encoded).decode()


def past(prefix):
    """The end of the range of all keys with this prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def put_of(key, value):
    return {"request_put": {"key": b64(key), "value": b64(value)}}


class Gateway:
    """Not for several threads at once."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.failures = 0  # calls that were made again

    def call(self, path, body):
        """The answer to a path below /v3/, however long it takes. The call may be carried out more than once."""
        end = time.monotonic() + WATCHDOG_S
        while True:
            try:
                return self._once(path, body)
            except (OSError, http.client.HTTPException) as error:
                if time.monotonic() > end:
                    raise AssertionError(f"{self.endpoint} never answered {path}: {error}") from error
            self.failures += 1
            time.sleep(PAUSE_S)

    def _once(self, path, body):
        connection = http.client.HTTPConnection(self.endpoint, timeout=WATCHDOG_S)
        try:
            connection.request("POST", "/v3/" + path, body=json.dumps(body))
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status in LATER:
            raise OSError(f"{answer.status} {text}")
        if answer.status != 200:
            raise AssertionError(f"{path} of {self.endpoint}: {answer.status} {text}")
        return json.loads(text)

    def put(self, key, value):
        self.call("kv/put", {"key": b64(key), "value": b64(value)})

    def put_together(self, pairs):
        """All in one revision."""
        self.call("kv/txn", {"success": [put_of(key, value) for key, value in pairs]})

    def delete(self, key):
        self.call("kv/deleterange", {"key": b64(key)})

    def delete_all(self, prefix):
        self.call("kv/deleterange", {"key": b64(prefix), "range_end": b64(past(prefix))})

    def all(self, prefix):
        """Values by key."""
        found = self.call("kv/range", {"key": b64(prefix), "range_end": b64(past(prefix))}).get("kvs", [])
        return {text_of(each["key"]): text_of(each.get("value", "")) for each in found}
