"""Requests with odd fields that do no harm: the daemon takes those that etcd takes and resets those that etcd resets,
but for the differences that are listed here. docs/http2.md says why."""

import struct
import unittest

import http2
import wire
from header_blocks import literal
from tests.daemon import ingot_daemon
from tests.services.etcd import etcd_servers

RESET = "reset PROTOCOL_ERROR"
PATH = http2.PUT
MESSAGE = http2.message(http2.put_request(b"k", b"v"))
HEAD = ((":method", "POST"), (":scheme", "http"), (":path", PATH), (":authority", "localhost"),
        ("content-type", "application/grpc"), ("te", "trailers"))
AUTHORITIES = ("#initially=[127.0.0.1:2379]", "http://127.0.0.1:2379", "/run/ingot/0.sock", "%2Frun%2F0.sock",
               "user@host", "[::1]:2379", "a b", "\xe4", " ", "")


def changed(name, value):
    """The head with another value for a field; one that it does not have comes last."""
    fields = [(each, value if each == name else old) for each, old in HEAD]
    return fields if (name, value) in fields else fields + [(name, value)]


def without(*names):
    return [field for field in HEAD if field[0] not in names]


def first(name, value):
    return [(name, value), *HEAD]


def last(*fields):
    return [*HEAD, *fields]


# Name: fields, and what both answer.
SAME = {
    **{f"authority {each!r}": (changed(":authority", each), "OK") for each in AUTHORITIES},
    **{f"host {each!r}": (last(("host", each)), "OK") for each in AUTHORITIES},
    "no authority": (without(":authority"), "OK"),
    "host instead of authority": (without(":authority") + [("host", "localhost")], "OK"),
    "host twice": (last(("host", "a"), ("host", "b")), "OK"),
    **{f"scheme {each!r}": (changed(":scheme", each), "OK") for each in ("https", "unix", "ht tp", "")},
    "no scheme": (without(":scheme"), "OK"),
    "path of another method": (changed(":path", PATH + "?a=b"), "UNIMPLEMENTED"),
    **{f"te {each!r}": (changed("te", each), "OK") for each in ("gzip", "Trailers", "trailers, gzip", "")},
    "no te": (without("te"), "OK"),
    **{name: (last((name, value)), "OK") for name, value in
       (("connection", "close"), ("keep-alive", "timeout=5"), ("proxy-connection", "keep-alive"),
        ("transfer-encoding", "chunked"), ("upgrade", "h2c"), ("expect", "100-continue"), ("cookie", "a=b"),
        ("http2-settings", "AAMAAABk"), ("priority", "u=3"), ("content-encoding", "gzip"), ("grpc-status", "0"),
        ("x_y.z-1", "v"), ("grpc-encoding", "identity"))},
    **{f"content-length {each!r}": (last(("content-length", each)), "OK")
       for each in (str(len(MESSAGE)), "3", "1000", "many", "-1", "")},
    "content-length twice": (last(("content-length", "3"), ("content-length", "4")), "OK"),
    "timeout twice": (last(("grpc-timeout", "50S"), ("grpc-timeout", "60S")), "OK"),
    **{f"content-type {each!r}": (changed("content-type", each), "OK")
       for each in ("application/grpc+proto", "application/grpc+json", "application/grpc;x=y")},
    "content-type twice": (last(("content-type", "text/plain")), "OK"),
    "joined binary metadata": (last(("x-bin", "AQ,Ag")), "OK"),
    **{f"value {each!r}": (last(("x", each)), "OK") for each in (" v", "v ", "a\tb", b"\xe4", "\xe4", "")},
    **{f"value {each!r}": (last(("x", each)), RESET) for each in ("a\nb", "a\rb", "a\0b", "a\x01b", "a\x7fb")},
    "authority of two lines": (changed(":authority", "a\nb"), RESET),
    **{f"name {each!r}": (last((each, "v")), RESET)
       for each in ("Upper-Case", "a b", "a:b", "a/b", "a\n", "\xe4", "")},
    **{f"{name} twice": (first(name, value), RESET) for name, value in HEAD[:4]},
    **{f"pseudo-header {each}": (first(each, "x"), RESET) for each in (":protocol", ":status", ":other", ":")},
    "pseudo-header after a field": (without(":authority") + [(":authority", "localhost")], RESET),
}

# Name: fields, what the daemon answers, and what etcd does.
OTHERWISE = {
    "no path": (without(":path"), "UNIMPLEMENTED", "RESOURCE_EXHAUSTED"),
    "path without a slash": (changed(":path", PATH[1:]), "UNIMPLEMENTED", "OK"),
    "no method": (without(":method"), "HTTP 405", "OK"),
    "method GET": (changed(":method", "GET"), "HTTP 405", "OK"),
    "content-type text/plain": (changed("content-type", "text/plain"), "HTTP 415", RESET),
    "no content-type": (without("content-type"), "HTTP 415", RESET),
    "malformed timeout": (last(("grpc-timeout", "5X")), "INTERNAL", RESET),
    "binary metadata that is no base64": (last(("x-bin", "@@")), "INTERNAL", "OK"),
    "much metadata": (last(("x", "v" * 9000)), "RESOURCE_EXHAUSTED", "OK"),
    "a long authority": (changed(":authority", "v" * 9000), "RESOURCE_EXHAUSTED", "OK"),
}

# Name: trailers, whether they end the request, what the daemon answers, and what etcd does.
TRAILERS = {
    "trailers": ([("x", "v")], True, "OK", RESET),
    "trailers that do not end": ([("x", "v")], False, RESET, RESET),
    "a path in trailers": ([(":path", PATH)], True, RESET, RESET),
    "upper case in trailers": ([("Upper-Case", "v")], True, RESET, RESET),
}


HEAD_BLOCK = b"".join(literal(name, value) for name, value in HEAD)


def head(flags=0, before=b"", after=b"", stream=1):
    return http2.frame(http2.HEADERS, http2.END_HEADERS | flags, stream, before + HEAD_BLOCK + after)


def data(flags=0, payload=MESSAGE):
    return http2.frame(http2.DATA, http2.END_STREAM | flags, 1, payload)


def setting(number, value):
    return http2.frame(http2.SETTINGS, 0, 0, struct.pack(">HI", number, value))


def depends_on(stream):
    """A priority's payload."""
    return struct.pack(">IB", stream, 15)


CALL = head() + data()
# Name: frames of a call that both take.
FRAMES_TAKEN = {
    "padded headers": head(http2.PADDED, b"\x05", bytes(5)) + data(),
    "padded data": head() + data(http2.PADDED, b"\x05" + MESSAGE + bytes(5)),
    "padding alone": head() + http2.frame(http2.DATA, http2.PADDED, 1, b"\x05" + bytes(5)) + data(),
    "headers with a priority": head(http2.WITH_PRIORITY, depends_on(0)) + data(),
    "headers with a priority and padding":
        head(http2.WITH_PRIORITY | http2.PADDED, b"\x05" + depends_on(7), bytes(5)) + data(),
    "a priority of an idle stream": http2.priority(5) + CALL,
    "a priority between headers and data": head() + http2.priority(1) + data(),
    "a header block in parts": http2.frame(http2.HEADERS, 0, 1, HEAD_BLOCK[:9]) +
                               http2.frame(http2.CONTINUATION, http2.END_HEADERS, 1, HEAD_BLOCK[9:]) + data(),
    "a frame of an unknown type": http2.frame(0xbe, 0xff, 0, b"grease") + CALL,
    "one on the call's stream": head() + http2.frame(0xbe, 0xff, 1, b"grease") + data(),
    "flags that mean nothing": head(0x40) + data(0xc0),
    "empty data before the message": head() + http2.frame(http2.DATA, 0, 1) + data(),
    "empty data that ends the request": head() + http2.frame(http2.DATA, 0, 1, MESSAGE) + data(payload=b""),
    "a message in parts": head() + http2.frame(http2.DATA, 0, 1, MESSAGE[:3]) + data(payload=MESSAGE[3:]),
    "an unknown setting": setting(0x2a2a, 7) + CALL,
    "the greatest frames that there may be": setting(0x5, 2 ** 24 - 1) + CALL,
    "no settings in a frame": http2.frame(http2.SETTINGS) + CALL,
    "the old call for a tunnel's setting": setting(0x8, 0) + CALL,
}

# Name: frames that no client is known to send, the end of the daemon's connection, and what etcd answers.
FRAMES_OTHERWISE = {
    "a stream that depends on itself": (head(http2.WITH_PRIORITY, depends_on(1)) + data(), "PROTOCOL_ERROR", "OK"),
    "33 settings in a frame": (http2.frame(http2.SETTINGS, 0, 0, struct.pack(">HI", 0x2a2a, 7) * 33) + CALL,
                               "ENHANCE_YOUR_CALM", "OK"),
    "an acknowledgement of nothing": (http2.frame(http2.SETTINGS, http2.ACK) * 3 + CALL, "PROTOCOL_ERROR", "OK"),
    "a reset of a stream that was never opened": (http2.reset(5) + CALL, "PROTOCOL_ERROR", "OK"),
    "a window of a stream that was never opened": (http2.window_update(5, 1) + CALL, "PROTOCOL_ERROR", "OK"),
    "data of a stream that was never opened": (http2.frame(http2.DATA, 0, 5, b"x") + CALL, "PROTOCOL_ERROR", "OK"),
    "a stream's window that grows by nothing": (head() + http2.window_update(1, 0) + data(), "PROTOCOL_ERROR", RESET),
}


def block(fields):
    return b"".join(literal(name, value) for name, value in fields)


def request(fields):
    return (http2.frame(http2.HEADERS, http2.END_HEADERS, 1, block(fields)) +
            http2.frame(http2.DATA, http2.END_STREAM, 1, MESSAGE))


def request_with_trailers(trailers, ends):
    flags = http2.END_HEADERS | (http2.END_STREAM if ends else 0)
    return (http2.frame(http2.HEADERS, http2.END_HEADERS, 1, block(HEAD)) + http2.frame(http2.DATA, 0, 1, MESSAGE) +
            http2.frame(http2.HEADERS, flags, 1, block(trailers)))


def play(endpoint, frames):
    """What a request is answered, or how else its stream or its connection ends."""
    wires = wire.Wires()
    peer = wires.add(wire.Peer(endpoint))
    peer.send(http2.hello() + frames)
    while peer.open and not peer.finished:
        wires.turn()
    said = list(peer.answers) or [f"reset {code}" for code in peer.resets] or [peer.how]
    peer.leave("done")
    wires.turn(0)
    return said[0]


class Fields(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(ingot_daemon.Daemon())
        cls.etcd = cls.enterClassContext(etcd_servers.Etcd())

    def both(self, name, frames, ours, theirs):
        with self.subTest(name):
            self.assertEqual(play(self.daemon.endpoint, frames), ours, "the daemon's answer")
            self.assertEqual(play(self.etcd.endpoint, frames), theirs, "etcd's answer")

    def test_what_etcd_takes_is_taken_and_what_it_resets_is_reset(self):
        self.assertEqual(play(self.daemon.endpoint, request(HEAD)), "OK")
        for name, (fields, answer) in SAME.items():
            self.both(name, request(fields), answer, answer)

    def test_what_is_answered_otherwise(self):
        for name, (fields, ours, theirs) in OTHERWISE.items():
            self.both(name, request(fields), ours, theirs)

    def test_frames(self):
        for name, frames in FRAMES_TAKEN.items():
            self.both(name, frames, "OK", "OK")
        for name, (frames, ours, theirs) in FRAMES_OTHERWISE.items():
            with self.subTest(name):
                self.assertIn(f"GOAWAY {ours}", play(self.daemon.endpoint, frames), "the daemon's answer")
                self.assertEqual(play(self.etcd.endpoint, frames), theirs, "etcd's answer")

    def test_trailers(self):
        for name, (trailers, ends, ours, theirs) in TRAILERS.items():
            self.both(name, request_with_trailers(trailers, ends), ours, theirs)


if __name__ == "__main__":
    unittest.main()
