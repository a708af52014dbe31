"""What an attack acts with: connections, time, sizes; and what it reports at its end."""

import collections
import random
import select
import sys
import time

import http2
from wire import Peer, Wires, closed_by_server

UNREAD_CHECK_S = 0.1  # between looks at whether the server has ended connections that do not read
CHUNK_UNITS = 64      # of a flood, made at a time
ENDS_SHOWN = 3
SAID_CHARACTERS = 120


class Scene:
    """`size` has the attack's numbers by name; `seconds` is how long it is to last, `patience_s` how long it waits for
    the server to end a connection that has done all its harm."""

    def __init__(self, endpoint, seconds, patience_s, size, seed):
        self.endpoint, self.seconds, self.patience_s, self.size = endpoint, seconds, patience_s, size
        self.prng = random.Random(seed)
        self.wires = Wires()
        self.peers = []
        self.marks = {}
        self.notes = []
        self.checked = 0
        self.began = time.monotonic()

    def connect(self, hello=None, **options):
        """A connection that has begun HTTP/2, with other first bytes if they are given."""
        peer = self.wires.add(Peer(self.endpoint, **options))
        peer.send(http2.hello() if hello is None else hello)
        self.peers.append(peer)
        return peer

    def time_left(self):
        return time.monotonic() < self.began + self.seconds

    def run(self, seconds, done=lambda: False):
        """Moves bytes for so long, or until it is done. Returns whether it was."""
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() >= end:
                return False
            self.wires.turn()
            self.check_unread()
        return True

    def run_to_end(self):
        """Goes on until the attack's seconds are over."""
        self.run(max(0, self.began + self.seconds - time.monotonic()))

    def run_until_asked(self):
        """Then goes on until standard input ends: the one who asks has seen enough."""
        inputs = select.poll()
        inputs.register(sys.stdin, select.POLLIN | select.POLLHUP)
        while not inputs.poll(0):
            self.wires.turn()

    def await_ends(self, peers=None):
        """Waits until the server has ended the connections, as long as its patience lasts."""
        peers = self.peers if peers is None else peers
        return self.run(self.patience_s, lambda: not any(peer.open for peer in peers))

    def check_unread(self):
        if time.monotonic() < self.checked + UNREAD_CHECK_S:
            return
        silent = [peer for peer in self.wires.peers.values() if not peer.reads]
        self.checked = time.monotonic()
        if silent:
            for peer in closed_by_server(self.endpoint, silent):
                peer.end("closed")

    def mark(self, name):
        """Names this moment; the watcher of the server's memory looks it up."""
        self.marks[name] = time.monotonic()

    def note(self, text):
        self.notes.append(text)

    def pour(self, peer, unit, count, patience_s=None):
        """Sends unit(0), unit(1), ... on the connection, as long as the server takes them. Returns how many were sent;
        fewer than `count` if the connection ends, if nothing has left for as long as the patience lasts, or if all of
        it takes longer than that and the attack's seconds."""
        patience_s = self.patience_s if patience_s is None else patience_s
        made, progress, sent = 0, time.monotonic(), peer.sent
        end = progress + self.seconds + self.patience_s
        while peer.open and (made < count or peer.pending):
            if made < count and peer.room:
                upto = min(made + CHUNK_UNITS, count)
                peer.send(b"".join(unit(each) for each in range(made, upto)))
                made = upto
            self.wires.turn()
            self.check_unread()
            if peer.sent != sent:
                progress, sent = time.monotonic(), peer.sent
            elif time.monotonic() > progress + patience_s:
                break
            if time.monotonic() > end:
                break
        return made

    def again_and_again(self, act):
        """Calls act(), which opens connections and returns them, until the time is over, the attack's connections are
        used up, or the server has let one of them live."""
        while len(self.peers) < self.size["connections"]:
            if not self.await_ends(act()) or not self.time_left():
                break
        self.run_to_end()

    def report(self):
        ends = collections.Counter(peer.how for peer in self.peers if peer.how)
        waited = [peer.ended_s for peer in self.peers if peer.how]
        sums = {name: sum((getattr(peer, name) for peer in self.peers), collections.Counter())
                for name in ("answers", "resets")}
        texts = {status: text for peer in self.peers for status, text in peer.texts.items()}
        return {"began": self.began, "ended": time.monotonic(), "marks": self.marks,
                "connections": len(self.peers), "kept": sum(peer.open for peer in self.peers),
                "left": sum(peer.left for peer in self.peers),
                "ends": dict(ends.most_common(ENDS_SHOWN)), "ends_s_max": round(max(waited), 3) if waited else None,
                "answers": dict(sums["answers"]), "resets": dict(sums["resets"]),
                "texts": {status: text[:SAID_CHARACTERS] for status, text in texts.items() if status != "OK"},
                "sent_bytes": sum(peer.sent for peer in self.peers),
                "received_bytes": sum(peer.received for peer in self.peers), "notes": self.notes}
