"""client/ingot/ingot.lua as it is installed, by LuaJIT."""

import re
import shutil
import unittest

from c_interface import header_text
from installed import first_program, installed, run_with_daemon, run_without_daemon

LUA = "client/ingot/ingot.lua"
EVERY_CALL = "tests/client/ingot/every_call.lua"
luajit = shutil.which("luajit")


def declarations(text):
    """Without comments and directives, each in one line."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^ *#.*$|^extern \"C\" \{$|^\}$", " ", text, flags=re.M)
    return re.sub(r"; ?", ";\n", re.sub(r"\s+", " ", text)).strip()


class Declarations(unittest.TestCase):
    def test_they_are_the_headers(self):
        with open(LUA) as file:
            [given] = re.findall(r"ffi\.cdef \[\[(.*?)\]\]", file.read(), re.S)
        self.assertEqual(declarations(given).splitlines(), declarations(header_text()).splitlines())


@unittest.skipUnless(luajit, "luajit is not installed; deploy/install.sh --tests does it")
class Lua(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        installed(cls)
        cls.environment["VERSION"] = re.search(r'#define INGOT_VERSION "(.*)"', header_text()).group(1)

    def test_every_call(self):
        for compiler in ("-jon", "-joff"):
            self.assertEqual(run_with_daemon(self, luajit, compiler, EVERY_CALL), "every call did what it says\n")

    def test_the_first_program_of_the_document(self):
        program = f"{self.folder}/first.lua"
        with open(program, "w") as file:
            file.write(first_program('local ingot = require "ingot"'))
        self.assertEqual(run_with_daemon(self, luajit, program), "on\nconfig/a\t1\n")
        self.assertIn("/nowhere.view.sock", run_without_daemon(self, luajit, program))

    def test_compiled_code_reads_as_interpreted_code_does(self):
        """Enough reads of keys that are there, and that are not, for LuaJIT to compile them."""
        program = """
            local view = assert(require("ingot").open(nil, {open_timeout_ms = 100000, timeout_ms = 100000}))
            local found, missing = 0, 0
            for i = 1, 20000 do
              local on = view:get(i % 2 == 0 and "flag" or "none" .. i) == "on"
              if on then found = found + 1 else missing = missing + 1 end
            end
            print(found, missing)"""
        self.assertEqual(run_with_daemon(self, luajit, "-e", program), "10000\t10000\n")


if __name__ == "__main__":
    unittest.main()
