"""The commands of README.md's section "Using it", in order, as a user pastes them; and who installs what they use."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from tests.daemon.ingot_daemon import INGOT_LOAD, INGOTCTL, INGOTD, PATIENCE, PORT_TAKEN, WATCHDOG_S

README, INSTALL = "README.md", "deploy/install.sh"
DEFAULT_ADDRESSES = ("127.0.0.1:2379", "127.0.0.1:9464")
STARTS = 3  # on ports that were free; another program may take one first


def commands():
    """The lines of the section's first block, comments included."""
    with open(README, encoding="utf-8") as file:
        section = re.search(r"^## Using it\n(.*?)^## ", file.read() + "## ", re.M | re.S)[1]
    block = re.search(r"(?:^    .*\n)+", section, re.M)[0]
    return [line.removeprefix("    ") for line in block.splitlines()]


def free_addresses():
    """Two addresses on ports of this machine that are free now."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in DEFAULT_ADDRESSES]
    addresses = [f"127.0.0.1:{listener.getsockname()[1]}" for listener in listeners]
    for listener in listeners:
        listener.close()
    return addresses


def paste(lines):
    """Runs the lines in one shell, which stops at the first that fails, and then waits for the daemon: (shell, output).
    The addresses are free ones, given by environment variables and in the text; clients are patient."""
    addresses = free_addresses()
    text = "\n".join(lines)
    for default, own in zip(DEFAULT_ADDRESSES, addresses):
        text = text.replace(default, own)
    for client in (INGOTCTL, INGOT_LOAD):
        text = re.sub(rf"(bazel-bin/{client}) ", rf"\1 {PATIENCE} ", text)
    environment = {**os.environ, "INGOT_LISTEN": addresses[0], "INGOT_METRICS_LISTEN": addresses[1],
                   "INGOT_ENDPOINT": addresses[0], "ETCDCTL_DIAL_TIMEOUT": "100s", "ETCDCTL_COMMAND_TIMEOUT": "100s"}
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.getcwd(), os.path.join(folder, "bazel-bin"))
        script = f"trap 'echo \"FAILED: $BASH_COMMAND\"' ERR\nset -e\n{text}\nwait $!\n"
        shell = subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment, text=True, start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            return shell, shell.communicate(timeout=WATCHDOG_S)[0]
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGTERM)
            return shell, shell.communicate()[0] + "\n(one of the commands does not end)"


class ReadmeTest(unittest.TestCase):
    def test_the_sequence_works_when_it_is_pasted_in_order(self):
        lines = commands()
        for program in (INGOTD, INGOTCTL, INGOT_LOAD):
            self.assertTrue(any(f"bazel-bin/{program}" in line for line in lines), program)
        for _ in range(STARTS):
            shell, output = paste(lines)
            try:
                os.killpg(shell.pid, signal.SIGTERM)  # a daemon that a failed command has left
            except ProcessLookupError:
                pass
            if PORT_TAKEN not in output:
                break
            print("RETRIED: another program took the free port that was chosen")
        self.assertEqual(shell.returncode, 0, output)
        for shown in ("serving", "check held", "replica 2 leads", "no write was committed for", "ingot_build_info"):
            self.assertIn(shown, output)

    def test_what_it_uses_is_installed_by_the_command_that_it_names(self):
        with open(INSTALL, encoding="utf-8") as file:
            always = re.search(r"^packages=\(\n(.*?)^\)", file.read(), re.M | re.S)[1].split()
        words = {line.split()[0] for line in commands()}
        programs = {word for word in words if "/" not in word and shutil.which(word)}
        self.assertIn("etcdctl", programs)
        for program in programs - {"kill"}:
            owner = subprocess.run(["dpkg", "-S", os.path.realpath(shutil.which(program))], stdout=subprocess.PIPE,
                                   text=True, check=True).stdout.partition(":")[0]
            self.assertIn(owner, always, f"{program} is used, and only with a flag, or not at all, installed")


if __name__ == "__main__":
    unittest.main()
