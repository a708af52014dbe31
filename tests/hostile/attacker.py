#!/usr/bin/env python3
"""Carries out one attack on a server of this machine and prints when it began and, as one line of JSON, what the server
did. hostile.py starts it; its connections stay until standard input ends.

    PYTHONPATH=tests/hostile tests/hostile/attacker.py ATTACK HOST:PORT SECONDS PATIENCE SEED SIZES
"""
import json
import resource
import sys

import body_attacks
import connection_attacks
import flood_attacks
import header_attacks
import watch_attacks
from scene import Scene

# All attacks by name, in the order of the table.
ATTACKS = {**connection_attacks.ATTACKS, **header_attacks.ATTACKS, **flood_attacks.ATTACKS, **body_attacks.ATTACKS,
           **watch_attacks.ATTACKS}


def main(arguments):
    if arguments in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if len(arguments) != 6 or arguments[0] not in ATTACKS:
        print(f"attacker.py: six arguments are needed, not {' '.join(arguments)}; see --help", file=sys.stderr)
        return 2
    name, endpoint, seconds, patience, seed, sizes = arguments
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    scene = Scene(endpoint, float(seconds), float(patience), json.loads(sizes), int(seed))
    print(scene.began, flush=True)
    ATTACKS[name].act(scene)
    scene.run_until_asked()
    print(json.dumps(scene.report()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
