"""The library as client/ingot/install.sh leaves it, below a folder of the test's own, and an instance to read."""

import os
import re
import shutil
import subprocess
import sysconfig
import tempfile

from tests.daemon.ingot_daemon import WATCHDOG_S, Daemon
from tests.client.ingot.writes import put

INSTALL = "client/ingot/install.sh"
# What the wheel of Python's module needs.
has_headers = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")) and bool(shutil.which("cc"))


def output_of(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=WATCHDOG_S,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)} exited with {done.returncode}:\n{done.stdout}")
    return done.stdout


def code_of(document, first_line):
    """The block of code that begins with that line."""
    with open(document) as page:
        blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", page.read(), re.M)
    [block] = [block for block in blocks if block.strip("\n").startswith("    " + first_line)]
    return re.sub("^    ", "", block, flags=re.M).strip("\n") + "\n"


# How the programs of docs/start-program.md open a view, and how they would with patience for a busy machine.
OPENED = {
    "ingot_open(NULL, NULL,": "ingot_open(NULL, &(ingot_options){sizeof(ingot_options), 100000, 1000, -1, 67108864},",
    "ingot::View::open()": "ingot::View::open({}, {.open_timeout = std::chrono::seconds(100)})",
    "ingot.open()": "ingot.open(nil, { open_timeout_ms = 100000 })",
    "ingot.View()": "ingot.View(open_timeout_ms=100000)",
}


def first_program(first_line):
    """Of docs/start-program.md, the one that begins with that line. It differs in its patience alone."""
    code = code_of("docs/start-program.md", first_line)
    [opened] = [opened for opened in OPENED if opened in code]
    return code.replace(opened, OPENED[opened])


def installed(case):
    """For setUpClass: `folder`, and `environment`, in which compilers and programs find the library."""
    case.folder = tempfile.mkdtemp(prefix="ingot-install-")
    case.addClassCleanup(shutil.rmtree, case.folder)
    output_of(INSTALL, f"--prefix={case.folder}/usr")
    usr = case.folder + "/usr"
    case.environment = {**os.environ, "PKG_CONFIG_PATH": f"{usr}/lib/pkgconfig", "LD_LIBRARY_PATH": f"{usr}/lib",
                        "LUA_PATH": f"{usr}/share/lua/5.1/?.lua"}


def run_with_daemon(case, *command):
    """What a program prints that reads "flag" and "config/a"."""
    with Daemon() as daemon:
        put(daemon, "flag", "on")
        put(daemon, "config/a", "1")
        return output_of(*command, env={**case.environment, "INGOT_SOCKET": daemon.socket})


def run_without_daemon(case, *command):
    """What it says where no instance is."""
    failed = subprocess.run(command, env={**case.environment, "INGOT_SOCKET": "/nowhere.sock"}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WATCHDOG_S)
    if failed.returncode == 0:
        raise AssertionError(f"{command} succeeded without an instance")
    return failed.stderr
