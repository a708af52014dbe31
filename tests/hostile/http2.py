"""HTTP/2's frames, written by hand so that they can also be wrong; and gRPC's requests in them."""

import struct

from header_blocks import indexed, literal

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, WITH_PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20

HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE = 0x1, 0x4

FRAME_BYTES_MAX = 16384  # of a payload, unless the server says more
WINDOW_MAX = 2 ** 31 - 1
FIRST_WINDOW = 65535     # of a connection, and of a stream unless the settings say otherwise

ERRORS = ("NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
          "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
          "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED")

STATUSES = ("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
            "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
            "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED")


def error_name(code):
    return ERRORS[code] if code < len(ERRORS) else f"error {code}"


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def settings(**values):
    """`header_table_size` and `initial_window_size`, as given."""
    numbers = {"header_table_size": HEADER_TABLE_SIZE, "initial_window_size": INITIAL_WINDOW_SIZE}
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", numbers[name], v) for name, v in values.items()))


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


def ping(payload=b"hostile!"):
    return frame(PING, payload=payload)


def priority(stream):
    return frame(PRIORITY, 0, stream, struct.pack(">IB", 0, 15))


def reset(stream, code=8):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def hello(**values):
    """What a client begins with. The server's header blocks then need no state to be read (header_blocks.py), and its
    DATA is never short of window unless the settings say so."""
    wide = {"header_table_size": 0, "initial_window_size": WINDOW_MAX, **values}
    return PREFACE + settings(**wide) + window_update(0, WINDOW_MAX - FIRST_WINDOW)


# ---- gRPC ----

def request_block(path, extra=()):
    fields = [indexed(3), indexed(6), literal(":path", path), literal(":authority", "localhost"),
              literal("content-type", "application/grpc"), literal("te", "trailers")]
    return b"".join(fields + [literal(name, value) for name, value in extra])


def message(payload, compressed=0):
    return struct.pack(">BI", compressed, len(payload)) + payload


def call(stream, block, payload):
    """A whole call of one message, which must fit one frame."""
    return frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, message(payload))


# ---- etcd's messages and grpc.health.v1, which are short enough to be written by hand ----

PUT = "/etcdserverpb.KV/Put"
RANGE = "/etcdserverpb.KV/Range"
HEALTH_WATCH = "/grpc.health.v1.Health/Watch"


def varint(value):
    encoded = b""
    while value >= 0x80:
        encoded += bytes((value & 0x7f | 0x80,))
        value >>= 7
    return encoded + bytes((value,))


def field(number, value):
    return varint(number << 3 | 2) + varint(len(value)) + value


def put_request(key, value):
    return field(1, key) + field(2, value)


def range_request(key, end=b""):
    return field(1, key) + (field(2, end) if end else b"")
