"""Connections of an attacker, which also record what the server did on them."""

import collections
import select
import socket
import struct
import time

import http2
from header_blocks import fields_of

CONNECT_S = 10         # then the server is taken for one that does not accept
READ_BYTES = 1 << 18
OUTPUT_BYTES_MAX = 1 << 16  # an attack writes no more while so much has not left


class Peer:
    """One connection. Nothing blocks after the constructor: Wires moves the bytes.

    It answers SETTINGS and PING as an honest client would. With `reads` false, it takes no byte from the socket.
    """

    def __init__(self, endpoint, reads=True, receive_bytes=None):
        self.reads = reads
        self.answers_frames = True   # not while a header block is under way, which no other frame may interrupt
        self.touched = set()         # of Wires: the peers whose next step it has to look at
        self.output = collections.deque()
        self.pending = 0             # bytes in `output`
        self.sent = self.received = 0
        self.input = bytearray()
        self.block = None            # of a header block that goes on: its bytes and its frame's flags
        self.goaway = None           # the error's name, with the server's text
        self.how = None              # the connection's end
        self.left = False            # it was this side that ended it
        self.ended_s = None          # seconds from its beginning to its end
        self.frames = collections.Counter()
        self.resets = collections.Counter()
        self.answers = collections.Counter()
        self.texts = {}              # one of each answer's
        self.finished = 0            # streams that the server has finished
        self.on_finished = None      # called with the stream's number
        self.window = http2.FIRST_WINDOW
        self.first_window = http2.FIRST_WINDOW
        self.stream_windows = collections.Counter()  # of each stream, beyond first_window
        self.began = time.monotonic()
        self.socket = socket.socket()
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        host, port = endpoint.rsplit(":", 1)
        self.socket.settimeout(CONNECT_S)
        try:
            self.socket.connect((host, int(port)))
            self.port = self.socket.getsockname()[1]
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            self.end(f"not connected: {error.strerror or error}")
        self.socket.setblocking(False)

    def end(self, how):
        if self.how is None:
            self.ended_s = time.monotonic() - self.began
            self.how = f"GOAWAY {self.goaway}, {how}" if self.goaway else how
            self.output.clear()
            self.pending = 0
            self.touched.add(self)

    def break_off(self):
        """Ends the connection from this side, at once, with a reset."""
        if self.open:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.leave("broken off by the attacker")

    def leave(self, how):
        self.left = self.open
        self.end(how)

    @property
    def open(self):
        return self.how is None

    @property
    def room(self):
        return self.open and self.pending < OUTPUT_BYTES_MAX

    def send(self, data):
        if self.open:
            self.output.append(memoryview(data))
            self.pending += len(data)
            self.touched.add(self)

    # ---- Called by Wires ----

    def write(self):
        try:
            while self.output:
                count = self.socket.send(self.output[0])
                self.sent += count
                self.pending -= count
                if count < len(self.output[0]):
                    self.output[0] = self.output[0][count:]
                    return
                self.output.popleft()
            self.touched.add(self)
        except BlockingIOError:
            pass
        except OSError as error:
            self.take_rest()  # what the server said before it ended the connection
            self.end(f"{error.strerror.lower()}")

    def read(self):
        try:
            data = self.socket.recv(READ_BYTES)
        except BlockingIOError:
            return False
        except OSError as error:
            self.end(f"{error.strerror.lower()}")
            return False
        if not data:
            self.end("closed")
            return False
        self.received += len(data)
        self.input += data
        self.parse()
        return True

    def take_rest(self):
        while self.open and self.reads and self.read():
            pass

    def parse(self):
        at, data = 0, self.input
        if data[:5] == b"HTTP/":
            self.answers["HTTP/1.1 " + bytes(data[9:12]).decode("latin-1")] += 1
            data.clear()
            return
        while len(data) - at >= 9:
            length = int.from_bytes(data[at:at + 3], "big")
            if len(data) - at < 9 + length:
                break
            stream = int.from_bytes(data[at + 5:at + 9], "big") & http2.WINDOW_MAX
            self.take(data[at + 3], data[at + 4], stream, bytes(data[at + 9:at + 9 + length]))
            at += 9 + length
        del data[:at]

    def take(self, kind, flags, stream, payload):
        self.frames[kind] += 1
        if kind == http2.DATA:
            if flags & http2.END_STREAM:
                self.finish(stream)
        elif kind == http2.HEADERS:
            self.take_block(payload[payload_start(flags):], flags, stream)
        elif kind == http2.CONTINUATION and self.block:
            self.take_block(self.block[0] + payload, self.block[1] | flags, stream)
        elif kind == http2.RST_STREAM:
            self.resets[http2.error_name(int.from_bytes(payload[:4], "big"))] += 1
            self.finish(stream)
        elif kind == http2.SETTINGS and not flags & http2.ACK:
            self.take_settings(payload)
        elif kind == http2.PING and not flags & http2.ACK and self.answers_frames:
            self.send(http2.frame(http2.PING, http2.ACK, 0, payload))
        elif kind == http2.GOAWAY:
            text = payload[8:].decode("latin-1")
            self.goaway = http2.error_name(int.from_bytes(payload[4:8], "big")) + (f' "{text}"' if text else "")
        elif kind == http2.WINDOW_UPDATE:
            increment = int.from_bytes(payload[:4], "big") & http2.WINDOW_MAX
            if stream == 0:
                self.window += increment
            else:
                self.stream_windows[stream] += increment

    def take_settings(self, payload):
        for name, value in struct.iter_unpack(">HI", payload):
            if name == http2.INITIAL_WINDOW_SIZE:
                self.first_window = value
        if self.answers_frames:
            self.send(http2.frame(http2.SETTINGS, http2.ACK))

    def take_block(self, block, flags, stream):
        if not flags & http2.END_HEADERS:
            self.block = (block, flags)
            return
        self.block = None
        fields = fields_of_cached(block)
        if fields.get(":status", "200") != "200":
            self.answers["HTTP " + fields[":status"]] += 1
        elif "grpc-status" in fields:
            code = int(fields["grpc-status"])
            status = http2.STATUSES[code] if code < len(http2.STATUSES) else f"status {code}"
            self.answers[status] += 1
            self.texts.setdefault(status, fields.get("grpc-message", ""))
        if flags & http2.END_STREAM:
            self.finish(stream)

    def finish(self, stream):
        self.finished += 1
        self.stream_windows.pop(stream, None)
        if self.on_finished:
            self.on_finished(stream)

    # ---- Flow control, for attacks that must not break it ----

    def send_window(self, stream):
        return min(self.window, self.first_window + self.stream_windows[stream])

    def send_data(self, stream, data, flags=0):
        """DATA, which must fit the window and a frame."""
        self.window -= len(data)
        self.stream_windows[stream] -= len(data)
        self.send(http2.frame(http2.DATA, flags, stream, data))


def payload_start(flags):
    return (1 if flags & http2.PADDED else 0) + (5 if flags & http2.WITH_PRIORITY else 0)


_known_blocks = {}


def fields_of_cached(block):
    """Blocks need no state (http2.hello), so equal ones have equal fields."""
    if block not in _known_blocks:
        if len(_known_blocks) > 10000:
            _known_blocks.clear()
        _known_blocks[block] = fields_of(block)
    return _known_blocks[block]


class Wires:
    """Moves the bytes of all peers, by one thread."""

    def __init__(self):
        self.epoll = select.epoll()
        self.peers = {}  # open ones by descriptor
        self.masks = {}
        self.touched = set()

    def add(self, peer):
        if peer.open:
            descriptor = peer.socket.fileno()
            self.peers[descriptor] = peer
            self.masks[descriptor] = 0
            self.epoll.register(descriptor, 0)
            peer.touched = self.touched
            self.touched.add(peer)
        return peer

    def turn(self, seconds=0.02):
        """Writes and reads what can be; waits at most so long if nothing can."""
        while self.touched:
            self.look_at(self.touched.pop())
        for descriptor, event in self.epoll.poll(seconds):
            peer = self.peers[descriptor]
            if event & select.EPOLLOUT:
                peer.write()
            if peer.reads and event & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
                peer.read()
            elif event & (select.EPOLLHUP | select.EPOLLERR):
                peer.end("connection reset by peer")

    def look_at(self, peer):
        descriptor = peer.socket.fileno()
        if not peer.open:
            if descriptor >= 0:
                self.epoll.unregister(descriptor)
                peer.socket.close()
                del self.peers[descriptor], self.masks[descriptor]
            return
        mask = (select.EPOLLIN if peer.reads else 0) | (select.EPOLLOUT if peer.pending else 0)
        if mask != self.masks[descriptor]:
            self.masks[descriptor] = mask
            self.epoll.modify(descriptor, mask)


ESTABLISHED, CLOSE_WAIT = "01", "08"  # states of a socket that its process has not closed


def closed_by_server(endpoint, peers):
    """Those of the peers whose other end the server has closed, as the kernel knows. For a peer that does not read:
    behind bytes that were not read, no end arrives."""
    port = int(endpoint.rsplit(":", 1)[1])
    held = set()
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):  # a listener of both families has its connections in tcp6
        try:
            with open(path) as file:
                rows = file.readlines()[1:]
        except FileNotFoundError:
            continue
        for row in rows:
            words = row.split()
            local, remote, state = words[1:4]
            if int(local.rsplit(":", 1)[1], 16) == port and state in (ESTABLISHED, CLOSE_WAIT):
                held.add(int(remote.rsplit(":", 1)[1], 16))
    return [peer for peer in peers if peer.open and peer.port not in held]
