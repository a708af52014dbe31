"""What client/ingot/ingot.h promises of each function, on a real instance."""

import ctypes
import os
import select
import signal
import threading
import unittest
from ctypes import byref, c_int64, c_uint64

from c_interface import (INGOT_CLOSED, INGOT_INVALID, INGOT_NO_DAEMON, INGOT_NOT_FOUND, INGOT_OK, INGOT_TIMED_OUT,
                         INGOT_TOO_LARGE, INGOT_TOO_OLD, VIEW, Answer, Bytes, EntryFields, Failed, Options, View,
                         header_text, lib)
from tests.daemon.ingot_daemon import WATCHDOG_S, Daemon, wait_until
from writes import delete, fields_of, put, put_together


class Contract(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon())
        cls.put("before", "the view")

    @classmethod
    def put(cls, key, value):
        """The write's revision."""
        return put(cls.daemon, key, value)

    def view(self, **options):
        view = View(self.daemon.socket, **options)
        self.addCleanup(view.close)
        return view

    def fails_with(self, code, call, *arguments):
        with self.assertRaises(Failed) as failed:
            call(*arguments)
        self.assertEqual(failed.exception.code, code, failed.exception)
        self.assertTrue(failed.exception.message)
        return failed.exception.message

    def kill_publisher(self):
        wait_until(lambda: self.daemon.children().get("@view"), "a publisher runs")
        os.kill(self.daemon.children()["@view"][0], signal.SIGKILL)

    # ---- Reads ------------------------------------------------------------------------------------------------------

    def test_a_get_has_value_and_fields_as_etcd_has_them(self):
        self.put("get/a", "1")
        second = self.put("get/a", "two")
        view = self.view()
        view.require(second)
        entry = view.get(b"get/a")
        self.assertEqual((entry.key, entry.value), (b"get/a", b"two"))
        self.assertEqual((entry.create_revision, entry.mod_revision, entry.version),
                         fields_of(self.daemon, "get/a"))
        self.assertEqual((entry.lease, entry.deleted), (0, 0))
        self.assertGreaterEqual(view.revision(), second)
        self.assertIsNone(view.get(b"get/none"))
        self.assertTrue(view.message())
        view.require(delete(self.daemon, "get/a"))
        self.assertIsNone(view.get(b"get/a"))
        for key in (b"", b"\0", b"\xff" * 10_000):
            self.assertIsNone(view.get(key))

    def test_keys_and_values_may_be_of_any_bytes(self):
        view = self.view()
        value = "".join(chr(i) for i in range(1, 300))
        view.require(self.put("bytes/\x01\u00fc", value))
        self.assertEqual(view.get("bytes/\x01\u00fc".encode()).value, value.encode())
        view.require(self.put("bytes/empty", ""))
        self.assertEqual(view.get(b"bytes/empty").value, b"")

    def test_several_keys_have_each_its_place(self):
        self.put("several/a", "1")
        view = self.view()
        view.require(self.put("several/b", "2"))
        answer = view.get_several(b"several/b", b"several/none", b"several/a", b"several/b", b"")
        self.assertEqual([entry and entry.value for entry in answer.entries()], [b"2", None, b"1", b"2", None])
        self.assertEqual(answer.at(1)[0], INGOT_NOT_FOUND)
        self.assertEqual(answer.at(5)[0], INGOT_INVALID)
        self.assertEqual(answer.revision(), view.revision())
        self.assertEqual(view.get_several().entries(), [])

    def test_ranges_prefixes_and_counts(self):
        for key in "abcd":
            revision = self.put(f"range/{key}", key * 3)
        view = self.view()
        view.require(revision)
        self.assertEqual(list(view.range(b"range/b", b"range/d").items()), [b"range/b", b"range/c"])
        answer = view.prefix(b"range/")
        self.assertEqual(list(answer.items().values()), [b"aaa", b"bbb", b"ccc", b"ddd"])
        self.assertEqual((answer.more(), answer.revision()), (0, view.revision()))
        self.assertEqual(view.prefix(b"range/none").entries(), [])
        self.assertEqual(view.count(b"range/b", b"range/d"), 2)
        self.assertEqual(view.count_prefix(b"range/"), 4)
        self.assertEqual(view.count(b"", b""), view.count_prefix(b""))
        self.assertGreaterEqual(view.count(b"range/", b""), 4)
        self.assertEqual(view.range(b"range/d", b"range/b").entries(), [])
        pages, begin = [], b"range/"
        while True:
            page = view.range(begin, b"range0", limit=3)
            pages.append([entry.value for entry in page.entries()])
            if not page.more():
                break
            begin = page.entries()[-1].key + b"\0"
        self.assertEqual(pages, [[b"aaa", b"bbb", b"ccc"], [b"ddd"]])

    def test_an_answer_is_bounded(self):
        for key in "abc":
            revision = self.put(f"large/{key}", key * 5000)
        view = self.view(answer_size_max=9000)
        view.require(revision)
        self.assertIn("answer_size_max", self.fails_with(INGOT_TOO_LARGE, view.prefix, b"large/"))
        self.assertEqual([entry.key for entry in view.prefix(b"large/", 3).entries()], [b"large/a", b"large/b"])
        self.assertEqual(view.prefix(b"large/", 3).more(), 1)
        self.fails_with(INGOT_TOO_LARGE, view.get_several, b"large/a", b"large/b", b"large/c")
        self.assertEqual(len(view.get_several(b"large/a").entries()), 1)
        one = self.view(answer_size_max=1)
        one.require(revision)
        self.assertEqual([entry.key for entry in one.range(b"large/", b"", 9).entries()], [b"large/a"])

    def test_an_answer_serves_many_reads_and_outlives_its_view(self):
        view = self.view()
        view.require(self.put("answer/a", "1"))
        answer = Answer()
        self.assertEqual(lib.ingot_prefix(view.handle, b"answer/", 7, 0, answer.handle), INGOT_OK)
        view.close()
        self.assertEqual(answer.items(), {b"answer/a": b"1"})
        self.assertEqual(lib.ingot_prefix(view.handle, b"answer/", 7, 0, answer.handle), INGOT_CLOSED)
        self.assertEqual((answer.entries(), answer.revision()), ([], 0))

    def test_changes_are_the_newest_state_of_each_changed_key(self):
        view = self.view()
        view.require(self.put("changes/before", "0"))
        since = view.get(b"changes/before").mod_revision
        self.put("changes/a", "1")
        self.put("changes/b", "1")
        newest = self.put("changes/a", "2")
        deleted = delete(self.daemon, "changes/b")
        view.require(deleted)
        changes = {entry.key: (entry.value, entry.deleted, entry.mod_revision)
                   for entry in view.changes(since).entries()}
        self.assertEqual(changes, {b"changes/a": (b"2", 0, newest), b"changes/b": (b"", 1, deleted)})
        self.assertEqual(view.changes(view.revision()).entries(), [])
        self.assertEqual(view.changes(2**63 - 1).entries(), [])
        self.fails_with(INGOT_TOO_OLD, view.changes, 0)

    def test_reads_of_several_threads_are_each_of_one_state(self):
        """Both keys of a transaction are equal in every read; each thread has a view of its own."""
        def read():
            with View(self.daemon.socket) as view:
                revision = 0
                while not ended.is_set():
                    values = {entry.value for entry in view.get_several(b"threads/a", b"threads/b").entries() if entry}
                    if len(values) > 1 or view.revision() < revision:
                        faults.append((values, view.revision(), revision))
                    revision = view.revision()
                    reads.append(1)

        ended, faults, reads = threading.Event(), [], []
        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for number in range(20):
                put_together(self.daemon, {"threads/a": str(number), "threads/b": str(number)})
                before = len(reads)
                wait_until(lambda: len(reads) > before + 10 or not all(t.is_alive() for t in threads), "reads go on")
        finally:
            ended.set()
            for thread in threads:
                thread.join(WATCHDOG_S)
        self.assertEqual(faults, [])

    # ---- Revisions and ages -----------------------------------------------------------------------------------------

    def test_a_read_waits_for_the_revision_that_it_must_see(self):
        view = self.view()
        for number in range(20):
            view.require(self.put("require", str(number)))
            self.assertEqual(view.get(b"require").value, str(number).encode())
        view.require(1)  # an earlier one changes nothing
        view.require(-(2**63))
        self.assertEqual(view.get(b"require").value, b"19")

    def test_a_revision_that_does_not_come_in_time_is_an_error(self):
        view = self.view()
        view.set_timeout(20)
        view.require(self.put("late", "1") + 1)
        answer = view.get_several
        self.fails_with(INGOT_TIMED_OUT, answer, b"late")
        self.fails_with(INGOT_TIMED_OUT, view.get, b"late")
        view.set_timeout(0)
        self.fails_with(INGOT_TIMED_OUT, view.count, b"", b"")
        view.set_timeout(100_000)
        self.put("late", "2")
        self.assertEqual(view.get(b"late").value, b"2")

    def test_the_age_is_told_from_the_first_question_on(self):
        view = self.view()
        self.assertGreaterEqual(view.age(), 0)
        bounded = self.view(age_max_ms=60_000)
        bounded.require(self.put("age", "1"))
        self.assertEqual(bounded.get(b"age").value, b"1")

    def test_a_read_with_a_bound_of_the_age_waits_for_a_revision_just_as_long(self):
        view = self.view(age_max_ms=60_000)
        revision = self.put("both", "1")
        view.require(revision)
        self.assertEqual(view.get(b"both").value, b"1")
        view.require(revision + 1)
        later = threading.Timer(0.3, lambda: self.put("both", "2"))
        later.start()
        self.assertIsNotNone(view.get(b"both"))
        later.join()
        self.assertGreater(view.revision(), revision)

    def test_the_identity_is_the_cluster_id(self):
        self.assertEqual(self.view().identity(), self.view().identity())
        self.assertNotEqual(self.view().identity(), 0)

    # ---- Waits ------------------------------------------------------------------------------------------------------

    def test_a_wait_ends_with_a_change_and_the_next_read_has_it(self):
        view = self.view()
        revision = self.put("wait/a", "0")
        view.require(revision)
        view.get(b"wait/a")
        for number in range(1, 6):
            later = threading.Thread(target=self.put, args=("wait/a", str(number)))
            later.start()
            while view.get(b"wait/a").value != str(number).encode():
                self.assertEqual(view.wait(b"wait/", view.revision(), -1), INGOT_OK)
            later.join()

    def test_a_wait_without_a_change_ends_with_its_time(self):
        view = self.view()
        view.require(self.put("quiet/a", "0"))
        view.get(b"quiet/a")
        for timeout_ms in (0, 1, 30):
            self.assertEqual(view.wait(b"quiet/", view.revision(), timeout_ms), INGOT_TIMED_OUT)
        self.assertTrue(view.message())

    def test_a_wait_in_an_event_loop(self):
        view = self.view()
        view.require(self.put("loop/a", "0"))
        view.get(b"loop/a")
        fd = view.wait_fd()
        self.assertEqual(view.wait_fd(), fd)
        for number in range(1, 6):
            revision = view.revision()
            error = view.wait(b"loop/", revision, 0)
            put = self.put("loop/a", str(number))
            while error == INGOT_TIMED_OUT:
                self.assertTrue(select.select([fd], [], [], WATCHDOG_S)[0], "the descriptor could never be read")
                error = view.wait(b"loop/", revision, 0)
            self.assertEqual(error, INGOT_OK)
            view.require(put)
            self.assertEqual(view.get(b"loop/a").value, str(number).encode())

    def test_a_wait_that_takes_the_place_of_another_demands_no_revision_of_reads(self):
        view = self.view()
        first = self.put("replaced/a", "0")
        view.require(first)
        view.get(b"replaced/a")
        fd = view.wait_fd()
        self.assertEqual(view.wait(b"replaced/", first, 30), INGOT_TIMED_OUT)
        second = self.put("replaced/a", "1")
        self.assertTrue(select.select([fd], [], [], WATCHDOG_S)[0])
        view.require(second)
        self.assertEqual(view.get(b"replaced/a").value, b"1")
        self.assertIn(view.wait(b"another/", second, 0), (INGOT_OK, INGOT_TIMED_OUT))
        view.set_timeout(0)
        self.assertEqual(view.get(b"replaced/a").value, b"1")

    def test_views_waits_and_ages_go_on_over_publishers(self):
        view = self.view()
        view.age()
        view.require(self.put("over/a", "0"))
        view.get(b"over/a")
        for number in range(1, 4):
            self.kill_publisher()
            self.assertIsNotNone(view.get(b"over/a"))
            put = self.put("over/a", str(number))
            while view.get(b"over/a").mod_revision < put:
                self.assertIn(view.wait(b"over/", view.revision(), 10_000),
                              (INGOT_OK, INGOT_TIMED_OUT, INGOT_NO_DAEMON))
            self.assertEqual(view.get(b"over/a").value, str(number).encode())
            self.assertGreaterEqual(view.age(), 0)

    # ---- Arguments and handles --------------------------------------------------------------------------------------

    def test_the_version_is_the_headers(self):
        self.assertIn(f'#define INGOT_VERSION "{lib.ingot_version().decode()}"', header_text())

    def test_wrong_options_are_refused(self):
        for options in ({"size": 0}, {"size": ctypes.sizeof(Options) - 1}, {"open_timeout_ms": -1}, {"timeout_ms": -1},
                        {"age_max_ms": -2}, {"answer_size_max": 0}):
            self.assertIn("INGOT_OPTIONS_INIT", self.fails_with(INGOT_INVALID, lambda o=options: self.view(**o)))
        most = 2**63 - 1
        view = self.view(size=1000, open_timeout_ms=most, timeout_ms=most, age_max_ms=most, answer_size_max=2**64 - 1)
        self.assertIsNotNone(view.get(b"before"))
        self.assertIsNotNone(view.prefix(b"before").entries())
        self.fails_with(INGOT_INVALID, view.set_timeout, -1)

    def test_a_message_is_cut_to_its_room_and_may_be_left_out(self):
        for size in (0, 1, 2, 20):
            room = ctypes.create_string_buffer(b"#" * 30, 31)
            handle = VIEW(1)
            self.assertNotEqual(lib.ingot_open(b"/nowhere.sock", None, byref(handle), room, size), INGOT_OK)
            self.assertIsNone(handle.value)
            self.assertEqual(room.raw[size:30], b"#" * (30 - size))
            if size > 0:
                self.assertEqual(len(room.value), size - 1)
            self.assertNotEqual(lib.ingot_open(b"/nowhere.sock", None, byref(handle), None, size), INGOT_OK)
        self.assertEqual(lib.ingot_open(b"", None, None, None, 0), INGOT_INVALID)

    def test_null_pointers_are_errors_where_there_should_be_something(self):
        view, answer = self.view(), Answer()
        fields, count, age = EntryFields(), c_uint64(), c_int64()
        no_data = (Bytes * 1)(Bytes(None, 1))
        for error in (
                lib.ingot_get(view.handle, None, 1, byref(fields)), lib.ingot_get(view.handle, b"k", 1, None),
                lib.ingot_get_several(view.handle, None, 1, answer.handle),
                lib.ingot_get_several(view.handle, no_data, 1, answer.handle),
                lib.ingot_get_several(view.handle, no_data, 0, None),
                lib.ingot_range(view.handle, None, 1, b"", 0, 0, answer.handle),
                lib.ingot_range(view.handle, b"", 0, None, 1, 0, answer.handle),
                lib.ingot_range(view.handle, b"", 0, b"", 0, 0, None),
                lib.ingot_prefix(view.handle, None, 1, 0, answer.handle),
                lib.ingot_prefix(view.handle, b"", 0, 0, None),
                lib.ingot_count(view.handle, None, 1, b"", 0, byref(count)),
                lib.ingot_count(view.handle, b"", 0, b"", 0, None),
                lib.ingot_count_prefix(view.handle, None, 1, byref(count)),
                lib.ingot_count_prefix(view.handle, b"", 0, None),
                lib.ingot_changes(view.handle, 0, None), lib.ingot_changes(view.handle, -1, answer.handle),
                lib.ingot_age(view.handle, None), lib.ingot_wait(view.handle, None, 1, 0, 0),
                lib.ingot_wait(view.handle, b"", 0, -1, 0), lib.ingot_wait(view.handle, b"", 0, 0, -2),
                lib.ingot_wait(view.handle, b"x" * 4097, 4097, 0, 0)):
            self.assertEqual(error, INGOT_INVALID)
            self.assertTrue(view.message())
        self.assertEqual(lib.ingot_answer_at(answer.handle, 0, None), INGOT_INVALID)
        self.assertEqual(lib.ingot_answer_at(answer.handle, 0, byref(fields)), INGOT_INVALID)
        # And none where the size is 0.
        self.assertEqual(lib.ingot_get(view.handle, None, 0, byref(fields)), INGOT_NOT_FOUND)
        self.assertEqual(lib.ingot_get_several(view.handle, None, 0, answer.handle), INGOT_OK)
        self.assertEqual(lib.ingot_range(view.handle, None, 0, None, 0, 1, answer.handle), INGOT_OK)
        self.assertEqual(lib.ingot_count_prefix(view.handle, None, 0, byref(count)), INGOT_OK)
        self.assertGreater(count.value, 0)

    def test_a_null_view_is_closed_and_a_null_answer_empty(self):
        answer, fields, count, age = Answer(), EntryFields(), c_uint64(7), c_int64(7)
        for error in (
                lib.ingot_get(None, b"k", 1, byref(fields)), lib.ingot_get_several(None, None, 0, answer.handle),
                lib.ingot_range(None, b"", 0, b"", 0, 0, answer.handle),
                lib.ingot_prefix(None, b"", 0, 0, answer.handle),
                lib.ingot_count(None, b"", 0, b"", 0, byref(count)), lib.ingot_count_prefix(None, b"", 0, byref(count)),
                lib.ingot_changes(None, 0, answer.handle), lib.ingot_require(None, 1), lib.ingot_age(None, byref(age)),
                lib.ingot_wait(None, b"", 0, 0, -1), lib.ingot_set_timeout(None, 1)):
            self.assertEqual(error, INGOT_CLOSED)
        self.assertEqual((count.value, age.value), (0, -1))
        self.assertEqual((lib.ingot_revision(None), lib.ingot_identity(None), lib.ingot_wait_fd(None)), (0, 0, -1))
        self.assertTrue(lib.ingot_message(None))
        lib.ingot_close(None)
        lib.ingot_answer_free(None)
        self.assertEqual((lib.ingot_answer_count(None), lib.ingot_answer_more(None), lib.ingot_answer_revision(None)),
                         (0, 0, 0))

    def test_nothing_remains_of_a_view_and_its_descriptors_end_with_exec(self):
        def held():
            with open("/proc/self/maps") as maps:
                return set(os.listdir("/proc/self/fd")), sum("ingot" in line and "memfd" in line for line in maps)

        before = held()[0]
        for _ in range(50):
            with self.view() as view:
                view.get(b"before")
                self.assertGreaterEqual(view.wait_fd(), 0)
                view.wait(b"", 2**63 - 1, 0)
                for fd in held()[0] - before:
                    try:
                        self.assertFalse(os.get_inheritable(int(fd)), fd)
                    except OSError:
                        pass  # that of the listing
        self.assertEqual(held(), (before, 0))


if __name__ == "__main__":
    unittest.main()
