"""What is installed: a library that exports the C interface alone, headers for C and C++, and what pkg-config reads.
Programs are compiled against it as users would, among them those of the documents."""

import os
import re
import tempfile
import unittest

from c_interface import LIBRARY, header_text
from installed import INSTALL, first_program, installed, output_of, run_with_daemon, run_without_daemon

EVERY_CALL = "tests/client/ingot/every_call.cc"


class Exports(unittest.TestCase):
    def test_only_the_functions_of_the_header_are_exported(self):
        lines = output_of("nm", "--dynamic", "--defined-only", LIBRARY).splitlines()
        exported = {line.split()[-1] for line in lines}
        declared = set(re.findall(r"^[a-z][\w ]*[ *]+(ingot_\w+)\(", header_text(), re.M))
        self.assertGreater(len(declared), 20)
        self.assertEqual(exported, declared)

    def test_its_name_and_what_it_needs(self):
        text = output_of("readelf", "--dynamic", "--wide", LIBRARY)
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", text), ["libingot.so.0"])
        needed = {re.sub(r"\.so.*", "", name) for name in re.findall(r"\(NEEDED\).*\[(.*)\]", text)}
        self.assertLessEqual(needed, {"libabsl_status", "libabsl_statusor", "libabsl_strings", "libstdc++", "libgcc_s",
                                      "libc", "libm"})
        self.assertNotIn("TEXTREL", text)
        self.assertIn("NOW", text)

    def test_its_major_version_is_that_of_its_name(self):
        major, minor, patch = (re.search(rf"#define INGOT_VERSION_{part} (\d+)", header_text()).group(1)
                               for part in ("MAJOR", "MINOR", "PATCH"))
        self.assertIn(f'#define INGOT_VERSION "{major}.{minor}.{patch}"', header_text())
        self.assertEqual(major, "0")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        installed(cls)

    def build(self, name, *compiler, source):
        path = f"{self.folder}/{name}"
        with open(path, "w") as file:
            file.write(source)
        flags = output_of("pkg-config", "--cflags", "--libs", "ingot", env=self.environment).split()
        output_of(*compiler, "-Wall", "-Wextra", "-Werror", "-o", path + ".program", path, *flags)
        return path + ".program"

    def test_destdir_is_no_part_of_what_is_written(self):
        with tempfile.TemporaryDirectory() as destination:
            output_of(INSTALL, f"--destdir={destination}", "--prefix=/usr")
            lib = destination + "/usr/lib/"
            self.assertEqual(sorted(os.listdir(lib)),
                             ["libingot.so", "libingot.so.0", "libingot.so.0.1.0", "pkgconfig"])
            self.assertEqual(os.path.realpath(lib + "libingot.so"), os.path.realpath(lib + "libingot.so.0.1.0"))
            with open(lib + "pkgconfig/ingot.pc") as file:
                self.assertNotIn(destination, file.read())

    def test_the_first_programs_of_the_document_are_built_and_run(self):
        for first_line, name, compiler in (("#include <ingot.h>", "first.c", ("cc", "-std=c99", "-pedantic")),
                                           ("#include <ingot.hpp>", "first.cc", ("g++", "-std=c++20", "-pedantic"))):
            program = self.build(name, *compiler, source=first_program(first_line))
            self.assertIn("on\n", run_with_daemon(self, program))
            self.assertIn("/nowhere.view.sock", run_without_daemon(self, program))

    def test_every_call_of_the_header_for_cpp(self):
        with open(EVERY_CALL) as file:
            program = self.build("every_call.cc", "g++", "-std=c++20", "-O1", "-pedantic", source=file.read())
        self.assertEqual(run_with_daemon(self, program), "every call did what it says\n")


if __name__ == "__main__":
    unittest.main()
