"""etcdctl's own checks, check perf and check datascale."""

import re
import subprocess

from tests.daemon.ingot_daemon import WATCHDOG_S
from tests.services.etcd.etcd_servers import PATIENCE, ctl_environment


def play(etcdctl, daemon, check):
    """Returns what the check prints of its outcome, without its bar. A check that failed raises."""
    done = subprocess.run([*etcdctl, f"--endpoints={daemon.endpoint}", *PATIENCE, "check", check],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ctl_environment(),
                          timeout=WATCHDOG_S)
    lines = re.findall(r"(?:PASS|FAIL|Slowest request took too|Stddev too)[^\r\n]*", done.stdout)
    if done.returncode != 0 or not lines:
        raise AssertionError(f"check {check} exited with {done.returncode}: {done.stdout[-2000:]}")
    return lines
