"""Which ingotd, ingotctl and ingot-load a script of this folder runs."""

import os
import subprocess
import sys

from tests.daemon import ingot_daemon


def use(script, ingotd, root):
    """Those beside a given ingotd; else, if `root` is given, those that Bazel builds there."""
    if ingotd:
        services = os.path.dirname(os.path.dirname(os.path.abspath(ingotd)))
        ingot_daemon.INGOTD = os.path.abspath(ingotd)
        ingot_daemon.INGOTCTL = os.path.join(services, "ingotctl/ingotctl")
        ingot_daemon.INGOT_LOAD = os.path.join(services, "ingot_load/ingot-load")
    elif root:
        if subprocess.run(["bazel", "build", "//services/ingotd", "//services/ingotctl",
                           "//services/ingot_load:ingot-load"], cwd=root, stdout=sys.stderr).returncode:
            sys.exit(f"{script}: the build failed; see above")
        os.chdir(os.path.join(root, "bazel-bin"))
