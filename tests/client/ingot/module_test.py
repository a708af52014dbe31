"""Python's module ingot, from the wheel that client/ingot/python/build_wheel.py makes."""

import asyncio
import base64
import gc
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

from installed import first_program, has_headers, output_of
from tests.daemon.ingot_daemon import WATCHDOG_S, Daemon, wait_until
from writes import put

BUILD = "client/ingot/python/build_wheel.py"
PATIENCE_MS = 100_000


@unittest.skipUnless(has_headers, "Python's headers are not installed; deploy/install.sh --tests does it")
class Module(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        global ingot
        cls.folder = tempfile.mkdtemp(prefix="ingot-wheel-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.wheel = output_of(sys.executable, BUILD, f"--output={cls.folder}").strip()
        zipfile.ZipFile(cls.wheel).extractall(cls.folder)
        sys.path.insert(0, cls.folder)
        import ingot
        cls.daemon = cls.enterClassContext(Daemon())
        put(cls.daemon, "flag", "on")

    def view(self, **options):
        view = ingot.View(self.daemon.socket, **{"open_timeout_ms": PATIENCE_MS, "timeout_ms": PATIENCE_MS, **options})
        self.addCleanup(view.close)
        return view

    def test_the_wheels_record_is_of_its_files(self):
        self.assertRegex(os.path.basename(self.wheel), r"^ingot-0\.1\.0-cp310-abi3-linux_\w+\.whl$")
        with zipfile.ZipFile(self.wheel) as wheel:
            [name] = [name for name in wheel.namelist() if name.endswith("RECORD")]
            rows = [line.split(",") for line in wheel.read(name).decode().splitlines()]
            self.assertEqual(sorted(row[0] for row in rows), sorted(wheel.namelist()))
            self.assertIn("ingot/py.typed", wheel.namelist())
            for path, digest, _ in rows:
                if path != name:
                    found = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(path)).digest()).rstrip(b"=").decode()
                    self.assertEqual(digest, "sha256=" + found)

    def test_reads(self):
        view = self.view()
        view.require(put(self.daemon, "config/\u00fc", "1"))
        self.assertEqual((view.get("flag"), view.get(b"flag"), view.get("none")), (b"on", b"on", None))
        entry = view.entry("config/\u00fc")
        self.assertEqual((entry.key, entry.value, entry.deleted), ("config/\u00fc".encode(), b"1", False))
        self.assertLessEqual(entry.create_revision, entry.mod_revision)
        self.assertIsNone(view.entry("none"))
        several = view.get_several(key for key in ("none", b"flag"))
        self.assertEqual([found and found.value for found in several], [None, b"on"])
        answer = view.prefix("config/")
        self.assertEqual([entry.value for entry in answer], [b"1"])
        self.assertEqual((answer.revision, answer.more), (view.revision, False))
        self.assertTrue(view.range("", limit=1).more)
        self.assertEqual(len(view.range("flag", "flag\0")), 1)
        self.assertEqual((view.count_prefix("config/"), view.count("flag", "flag\0")), (1, 1))
        self.assertEqual(view.changes(view.revision), [])
        self.assertGreaterEqual(view.age_ms(), 0)
        self.assertGreater(view.identity, 0)
        self.assertEqual(ingot.__version__, "0.1.0")

    def test_all_keys_are_read_by_pages(self):
        for number in range(7):
            revision = put(self.daemon, f"pages/{number}", str(number))
        view = self.view()
        view.require(revision)
        for size in (1, 3, 7, 100):
            self.assertEqual([entry.value for entry in view.pages("pages/", size)], [b"%d" % i for i in range(7)])
        self.assertEqual(len(list(view.pages(size=2))), view.count("", ""))

    def test_errors_are_classes_with_the_names_of_all_languages(self):
        for name, cause in (("no_daemon", lambda: ingot.View("/nowhere.sock")),
                            ("invalid", lambda: ingot.View("relative/path")),
                            ("invalid", lambda: self.view(timeout_ms=-1)),
                            ("invalid", lambda: self.view(answer_size_max=-1)),
                            ("invalid", lambda: self.view().prefix("a", -1)),
                            ("invalid", lambda: self.view().wait("a", 0, -2)),
                            ("invalid", lambda: setattr(self.view(), "timeout_ms", -1)),
                            ("too_old", lambda: self.view().changes(0)),
                            ("too_large", lambda: self.view(answer_size_max=1).range("")),
                            ("too_stale", lambda: self.view(age_max_ms=0, timeout_ms=10).get("flag"))):
            put(self.daemon, "another", "key")
            with self.assertRaises(ingot.Error) as raised:
                cause()
            self.assertEqual(raised.exception.name, name)
            self.assertIs(type(raised.exception), getattr(ingot, name.title().replace("_", "")))
            self.assertTrue(str(raised.exception))
        view = self.view(timeout_ms=10)
        view.get("flag")
        view.require(view.revision + 1000)
        with self.assertRaises(ingot.TimedOut):
            view.get("flag")

    def test_wrong_types_are_type_errors(self):
        view = self.view()
        for call in (lambda: view.get(1), lambda: view.get(), lambda: view.get_several([None]),
                     lambda: view.require("1"), lambda: view.get_several(1), lambda: view.prefix(bytearray(b"x")),
                     lambda: ingot.View(b"x"), lambda: ingot.View(unknown=1), lambda: setattr(view, "timeout_ms", "1")):
            self.assertRaises(TypeError, call)
        self.assertRaises(UnicodeEncodeError, view.get, "\ud800")
        self.assertRaises(OverflowError, view.require, 2**63)
        self.assertEqual(view.get("flag"), b"on")

    def test_a_closed_view_says_so_and_nothing_remains_of_it(self):
        descriptors = os.listdir("/proc/self/fd")
        for _ in range(50):
            with ingot.View(self.daemon.socket, open_timeout_ms=PATIENCE_MS) as view:
                view.get("flag")
            ingot.View(self.daemon.socket, open_timeout_ms=PATIENCE_MS).fileno()
        gc.collect()
        self.assertEqual(os.listdir("/proc/self/fd"), descriptors)
        for call in (lambda: view.get("flag"), lambda: view.prefix(""), lambda: view.fileno(), lambda: view.wait("", 0),
                     lambda: view.require(1)):
            self.assertRaises(ingot.Closed, call)
        view.close()

    def test_a_view_that_another_thread_uses_says_so(self):
        view = self.view()
        view.get("flag")
        entered, ended = threading.Event(), threading.Event()

        def wait():
            entered.set()
            while not ended.is_set():
                view.wait("never/", 2**62, 1000)

        def is_refused():
            try:
                view.get("flag")
                return False
            except RuntimeError:
                return True

        thread = threading.Thread(target=wait)
        thread.start()
        wait_until(lambda: entered.is_set() and is_refused(), "the view is in use")
        ended.set()
        thread.join(WATCHDOG_S)
        self.assertEqual(view.get("flag"), b"on")

    def test_a_read_that_waits_lets_other_threads_run(self):
        view = self.view()
        view.require(put(self.daemon, "later", "1"))
        view.get("later")
        view.require(view.revision + 1)
        thread = threading.Thread(target=put, args=(self.daemon, "later", "2"))
        thread.start()
        self.assertIsNotNone(view.get("later"))  # with the lock held, the put would never be sent
        thread.join(WATCHDOG_S)

    def test_a_wait_is_ended_by_a_signals_exception(self):
        class Rang(Exception):
            pass

        def ring(*_):
            raise Rang

        view = self.view()
        before = signal.signal(signal.SIGALRM, ring)
        try:
            with self.assertRaises(Rang):
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                view.wait("never/", 2**62)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def test_a_wait_in_asyncio(self):
        async def follow():
            view = self.view()
            view.get("flag")
            revision = view.revision
            changed = asyncio.create_task(view.changed("async/", revision))
            await asyncio.sleep(0)
            written = await asyncio.get_running_loop().run_in_executor(None, put, self.daemon, "async/a", "1")
            await asyncio.wait_for(changed, WATCHDOG_S)
            view.require(written)
            return view.get("async/a")

        self.assertEqual(asyncio.run(follow()), b"1")

    def test_two_tasks_do_not_wait_on_one_view(self):
        async def wait_twice():
            view = self.view()
            first = asyncio.create_task(view.changed("never/", 2**62))
            await asyncio.sleep(0)
            with self.assertRaisesRegex(RuntimeError, "another task waits"):
                await view.changed("never/", 2**62)
            first.cancel()
            await asyncio.wait([first])
            view.get("flag")
            changed = asyncio.create_task(view.changed("twice/", view.revision))
            await asyncio.sleep(0)
            await asyncio.get_running_loop().run_in_executor(None, put, self.daemon, "twice/a", "1")
            await asyncio.wait_for(changed, WATCHDOG_S)

        asyncio.run(wait_twice())

    def test_a_forked_child_goes_on_with_the_view(self):
        view = self.view()
        view.get("flag")
        view.wait("never/", 2**62, 1)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                view.wait("never/", 2**62, 1)
                code = 0 if view.get("flag") == b"on" and view.age_ms() >= 0 else 2
                view.close()
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(view.get("flag"), b"on")
        self.assertGreaterEqual(view.age_ms(), 0)

    def test_the_first_program_of_the_document(self):
        environment = {**os.environ, "PYTHONPATH": self.folder, "INGOT_SOCKET": self.daemon.socket}
        code = first_program("import ingot")
        self.assertIn("on\n", output_of(sys.executable, "-c", code, env=environment))
        failed = subprocess.run([sys.executable, "-c", code], env={**environment, "INGOT_SOCKET": "/nowhere.sock"},
                                stderr=subprocess.PIPE, text=True, timeout=WATCHDOG_S)
        self.assertIn("ingot.NoDaemon: /nowhere.view.sock", failed.stderr)


if __name__ == "__main__":
    unittest.main()
