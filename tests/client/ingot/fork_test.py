"""Parent and child both go on with a view: each reads, demands revisions and waits for itself, whatever the other does,
and nothing needs to be done in the child."""

import os
import select
import signal
import unittest

from c_interface import INGOT_OK, INGOT_TIMED_OUT, Failed, View
from tests.daemon.ingot_daemon import WATCHDOG_S, Daemon, wait_until
from writes import put


class Child:
    """A forked child that runs a function; whatever that raises makes require_success fail."""

    def __init__(self, call):
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                call()
                code = 0
            except BaseException as error:
                os.write(2, f"in the child: {error!r}\n".encode())
            finally:
                os._exit(code)

    def require_success(self):
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if code != 0:
            raise AssertionError(f"the child ended with {code}")


class Line:
    """A byte from one process to the other."""

    def __init__(self):
        self.read_end, self.write_end = os.pipe()

    def tell(self):
        os.write(self.write_end, b".")

    def hear(self):
        if not select.select([self.read_end], [], [], WATCHDOG_S)[0]:
            raise AssertionError("the other process says nothing")
        os.read(self.read_end, 1)

    def close(self):
        os.close(self.read_end)
        os.close(self.write_end)


class Fork(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = cls.enterClassContext(Daemon())

    def put(self, key, value):
        return put(self.daemon, key, value)

    def view(self, **options):
        """In which "a" is "0"."""
        view = View(self.daemon.socket, **options)
        self.addCleanup(view.close)
        self.see(view, self.put("a", "0"), b"0")
        return view

    def kill_publisher(self):
        wait_until(lambda: self.daemon.children().get("@view"), "a publisher runs")
        os.kill(self.daemon.children()["@view"][0], signal.SIGKILL)

    def line(self):
        line = Line()
        self.addCleanup(line.close)
        return line

    def see(self, view, revision, value):
        view.require(revision)
        self.assertEqual(view.get(b"a").value, value)

    def test_children_and_their_children_read_on_over_publishers(self):
        def in_child():
            self.see(view, first, b"1")
            grandchild = Child(in_grandchild)
            ready.tell()
            self.see(view, first + 1, b"2")
            grandchild.require_success()

        def in_grandchild():
            self.see(view, first, b"1")
            ready.tell()
            self.see(view, first + 1, b"2")

        view, ready = self.view(), self.line()
        first = self.put("a", "1")
        view.require(first)
        children = [Child(in_child) for _ in range(3)]
        for _ in range(6):
            ready.hear()
        self.kill_publisher()
        self.put("a", "2")
        self.see(view, first + 1, b"2")
        for child in children:
            child.require_success()

    def test_a_child_that_closes_a_view_takes_nothing_from_its_parent(self):
        view = self.view()
        revision = view.get(b"a").mod_revision
        fd = view.wait_fd()
        self.assertEqual(view.wait(b"a", revision, 50), INGOT_TIMED_OUT)
        Child(view.close).require_success()
        put = self.put("a", "1")
        error = view.wait(b"a", revision, 0)
        while error == INGOT_TIMED_OUT:
            self.assertTrue(select.select([fd], [], [], WATCHDOG_S)[0])
            error = view.wait(b"a", revision, 0)
        self.assertEqual(error, INGOT_OK)
        self.see(view, put, b"1")

    def test_parent_and_child_wait_each_for_what_it_asked(self):
        def in_child():
            self.assertEqual(view.wait(b"child/", revision, 50), INGOT_TIMED_OUT)
            fd = view.wait_fd()
            waiting.tell()
            self.wait_until_changed(view, b"child/", revision, fd)
            self.assertEqual(view.get(b"child/x").value, b"2")

        view, waiting = self.view(), self.line()
        view.get(b"a")
        revision = view.revision()
        self.assertEqual(view.wait(b"parent/", revision, 50), INGOT_TIMED_OUT)
        fd = view.wait_fd()
        child = Child(in_child)
        waiting.hear()
        self.put("parent/x", "1")
        self.wait_until_changed(view, b"parent/", revision, fd)
        self.assertEqual(view.get(b"parent/x").value, b"1")
        self.put("child/x", "2")
        child.require_success()

    def wait_until_changed(self, view, prefix, revision, fd):
        while not view.prefix(prefix).entries():
            if view.wait(prefix, revision, 0) == INGOT_TIMED_OUT:
                self.assertTrue(select.select([fd], [], [], WATCHDOG_S)[0], "the descriptor could never be read")

    def test_a_question_that_was_on_its_way_is_asked_again_by_the_child(self):
        """The publisher has died, so parent and child both have to ask for the next one's view."""
        view = self.view()
        view.get(b"a")
        for number in range(5):
            self.kill_publisher()
            put = self.put("a", str(number))
            view.get(b"a")  # notices, and may ask
            child = Child(lambda p=put, n=number: self.see(view, p, str(n).encode()))
            self.see(view, put, str(number).encode())
            child.require_success()

    def test_ages_are_asked_for_by_each_process(self):
        view = self.view(age_max_ms=60_000)
        view.get(b"a")
        child = Child(lambda: (view.get(b"a"), view.age()))
        self.assertGreaterEqual(view.age(), 0)
        child.require_success()
        self.assertIsNotNone(view.get(b"a"))

    def test_an_error_in_one_process_is_none_in_the_other(self):
        view = self.view()
        revision = view.get(b"a").mod_revision

        def in_child():
            view.require(revision + 100)
            view.set_timeout(10)
            with self.assertRaises(Failed):
                view.get(b"a")

        Child(in_child).require_success()
        self.see(view, revision, b"0")
        self.assertEqual(view.message(), "")


if __name__ == "__main__":
    unittest.main()
