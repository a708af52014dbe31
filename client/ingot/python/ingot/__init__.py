"""Reads the keys of an Ingot instance on this machine in place, from shared memory.

    import ingot

    with ingot.View() as view:
        print(view.get("flag"))
        for entry in view.prefix("config/"):
            print(entry.key, entry.value)

Keys are bytes, or str in UTF-8; values are bytes. Errors are subclasses of ingot.Error (docs/libingot.md#errors). A
view is for one thread at a time; a forked child goes on with it.
"""

from __future__ import annotations

import asyncio
from typing import Iterable, Iterator, List, Optional, Union

from . import _ingot
from ._ingot import (Closed, Damaged, Entry, Error, Exhausted, Invalid, NoDaemon, NotAllowed, OtherIdentity,
                     OtherLayout, TimedOut, TooLarge, TooOld, TooStale, version)

__version__ = version
__all__ = ["Answer", "Closed", "Damaged", "Entry", "Error", "Exhausted", "Invalid", "NoDaemon", "NotAllowed",
           "OtherIdentity", "OtherLayout", "TimedOut", "TooLarge", "TooOld", "TooStale", "View", "version"]

Key = Union[bytes, str]


class Answer(List[Entry]):
    """Entries of one state, its revision, and whether there are more than the limit."""

    def __init__(self, entries: List[Entry], revision: int, more: bool) -> None:
        super().__init__(entries)
        self.revision = revision
        self.more = more


async def _until_readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    loop.add_reader(descriptor, lambda: readable.done() or readable.set_result(None))
    try:
        await readable
    finally:
        loop.remove_reader(descriptor)


class View(_ingot.View):
    """A view of an instance, which is called as client/ingot/ingot.h says; by default, as the environment does."""

    _awaited = False

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_several(self, keys: Iterable[Key]) -> List[Optional[Entry]]:
        """In one state; None for a key that is not there."""
        return self._get_several(keys)[0]

    def range(self, begin: Key, end: Key = b"", limit: int = 0) -> Answer:
        """Keys from `begin` on, below `end` (b"": without an end)."""
        return Answer(*self._range(begin, end, limit))

    def prefix(self, prefix: Key, limit: int = 0) -> Answer:
        return Answer(*self._prefix(prefix, limit))

    def changes(self, after_revision: int) -> Answer:
        """Each key that changed after a revision, once, in its newest state, also if it was deleted."""
        return Answer(*self._changes(after_revision))

    def pages(self, prefix: Key = b"", size: int = 1000) -> Iterator[Entry]:
        """All keys with a prefix, read by pages of that many, each of its own state."""
        begin = prefix.encode() if isinstance(prefix, str) else prefix
        first = begin
        while True:
            page = self.range(begin, b"", size)
            for entry in page:
                if not entry.key.startswith(first):
                    return
                yield entry
            if not page.more:
                return
            begin = page[-1].key + b"\0"

    def _has_changed(self, prefix: Key, after_revision: int) -> bool:
        try:
            return self.wait(prefix, after_revision, 0)
        except NoDaemon:
            return False  # the descriptor tells when to try again

    async def changed(self, prefix: Key, after_revision: int) -> None:
        """Waits in asyncio's loop until a key with the prefix may have changed after a revision; one task at a time."""
        if self._awaited:
            raise RuntimeError("another task waits for changes of this view; open a view for each")
        self._awaited = True
        try:
            while not self._has_changed(prefix, after_revision):
                await _until_readable(self.fileno())
        finally:
            self._awaited = False
