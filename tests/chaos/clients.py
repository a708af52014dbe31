"""The clients of a daemon under chaos: what they do, and what their reports must say."""

import time

from checker import build_porcupine, porcupine

FINE = "fine"


def total(reports, key):
    return sum(report[key] for report in reports)


def verdicts(reports, key):
    return sorted({report[key] for report in reports})


class Keys:
    """Readers and writers of a few keys; Porcupine judges their histories, too."""

    program, want_notes = "tests/chaos/recorder", False

    def __init__(self, require_porcupine):
        self.checker, self.no_checker = build_porcupine()
        if self.checker is None and require_porcupine:
            raise AssertionError(self.no_checker)

    @staticmethod
    def flags(history):
        return [f"--history={history}"]

    def judge(self, report, history):
        report["porcupine"] = self._judged(history)

    def _judged(self, history):
        if self.checker is None:
            return "not judged: " + self.no_checker
        code, reports, error = porcupine(self.checker, history)
        return reports[0]["verdict"] if code in (0, 1) and reports else error

    @staticmethod
    def line(report):
        return (f"{report['operations']} operations, {report['open']} open, {report['looked_up']} looked up, "
                f"{report['lost']} lost, linearizable: {report['linearizable']} (Porcupine: {report['porcupine']}), "
                f"longest gap {report['gap_ms_max']:.0f} ms")

    @staticmethod
    def summary(reports):
        held = all(r["lost"] == 0 and r["linearizable"] == FINE and r["revisions"] == FINE and
                   (r["porcupine"] == "Ok" or r["porcupine"].startswith("not judged")) for r in reports)
        counts = ("operations", "acknowledged_writes", "looked_up", "lost", "open", "failed")
        return {**{key: total(reports, key) for key in counts},
                "gap_ms_max": round(max(r["gap_ms_max"] for r in reports), 1),
                **{key: verdicts(reports, key) for key in ("linearizable", "revisions", "porcupine")},
                "lost_examples": [e for r in reports for e in r["lost_examples"]][:10], "held": held}


class Leases:
    """Lease holders that wait for one another's locks, and watchers of all their keys. Now and then the whole group is
    stopped for longer than a lease."""

    program, want_notes = "tests/chaos/lease_holders", True
    judged = ("seen_once_in_order", "locks_of_one", "not_early", "not_late")

    @staticmethod
    def flags(_history):
        return []

    def judge(self, report, _history):
        """They have judged it themselves."""

    @classmethod
    def line(cls, report):
        said = ", ".join(f"{name.replace('_', ' ')}: {report[name]}" for name in cls.judged)
        return (f"{report['leases']} leases, {report['keep_alives']} keep-alives, {report['tenures']} tenures, "
                f"{report['expired']} expired, {report['events']} events, {said}, latest {report['late_ms_max']} ms")

    @classmethod
    def summary(cls, reports):
        counts = ("leases", "keep_alives", "tenures", "expired", "events", "writes", "group_stops", "left")
        return {**{key: total(reports, key) for key in counts},
                "late_ms_max": max(report["late_ms_max"] for report in reports),
                **{key: verdicts(reports, key) for key in cls.judged},
                "held": all(report[key] == FINE for report in reports for key in cls.judged)}


class Notes:
    """Lines for clients that want to know what was done to the daemon, and when, by the machine's monotonic clock."""

    def __init__(self, wanted, write):
        self.wanted, self.write = wanted, write

    def disturbed(self):
        self._line(f"disturbed {time.monotonic_ns()}")

    def stopped(self, from_ns, to_ns):
        self._line(f"stopped {from_ns} {to_ns}")

    def blocked(self):
        self.write("blocked\n")

    def _line(self, text):
        if self.wanted:
            self.write(text + "\n")
