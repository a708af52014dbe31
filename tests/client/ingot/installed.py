"""The library as client/ingot/install.sh leaves it, below a folder of the test's own, and an instance to read."""

import os
import re
import shutil
import subprocess
import sysconfig
import tempfile

from tests.daemon.ingot_daemon import WATCHDOG_S, Daemon, ctl
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


def installed(case):
    """For setUpClass: `folder`, and `environment`, in which compilers and programs find the library."""
    case.folder = tempfile.mkdtemp(prefix="ingot-install-")
    case.addClassCleanup(shutil.rmtree, case.folder)
    output_of(INSTALL, f"--prefix={case.folder}/usr")
    usr = case.folder + "/usr"
    case.environment = {**os.environ, "PKG_CONFIG_PATH": f"{usr}/lib/pkgconfig", "LD_LIBRARY_PATH": f"{usr}/lib",
                        "LUA_PATH": f"{usr}/share/lua/5.1/?.lua"}


def run_with_daemon(case, *command):
    """What a program prints that reads "flag" and "config/a". The view shows them before it starts, since programs of
    documents have no patience for a first view on a busy machine."""
    with Daemon() as daemon:
        put(daemon, "flag", "on")
        ctl(daemon.endpoint, "put", "config/a", "1", "--view")
        return output_of(*command, env={**case.environment, "INGOT_SOCKET": daemon.socket})


def run_without_daemon(case, *command):
    """What it says where no instance is."""
    failed = subprocess.run(command, env={**case.environment, "INGOT_SOCKET": "/nowhere.sock"}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WATCHDOG_S)
    if failed.returncode == 0:
        raise AssertionError(f"{command} succeeded without an instance")
    return failed.stderr
