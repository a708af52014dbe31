"""What a process uses, read from outside."""

import os
import statistics
import threading
import time

INTERVAL_S = 0.02
MIB = 2 ** 20


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def highest_resident_bytes(pid):
    """Since forget_highest()."""
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    raise OSError(f"the kernel does not say what process {pid} used at most")


def forget_highest(pid):
    with open(f"/proc/{pid}/clear_refs", "w") as file:
        file.write("5")


class Gauge:
    """Reads the process's resident memory again and again. Use as a context manager."""

    def __init__(self, pid):
        self.pid = pid
        self.samples = []  # (time, bytes)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self):
        self.start_bytes = resident_bytes(self.pid)
        self.start_descriptors = open_descriptors(self.pid)
        self.peak_bytes = self.start_bytes
        forget_highest(self.pid)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def watch(self):
        while not self.ended.wait(INTERVAL_S):
            try:
                self.samples.append((time.monotonic(), resident_bytes(self.pid)))
                self.peak_bytes = max(self.peak_bytes, highest_resident_bytes(self.pid))
            except OSError:
                return  # the process has ended, which the trial sees, too

    def median_since(self, moment, until):
        seen = [size for at, size in self.samples if moment <= at <= until]
        return statistics.median(seen) if seen else None

    def now(self):
        """(bytes above the start, descriptors above the start); None if the process has ended."""
        try:
            return resident_bytes(self.pid) - self.start_bytes, open_descriptors(self.pid) - self.start_descriptors
        except OSError:
            return None
