#!/usr/bin/env bash
# Attacks on the front door, with an ordinary client beside each: tests/hostile/run.sh --full --target=both; --help
# lists the attacks and the other flags. Builds what it needs.
set -euo pipefail
root=$(dirname "$(readlink -f "$0")")/../..
root=$(readlink -f "$root")
# Debian's Python has the gRPC that deploy/install.sh --tests installs.
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/hostile:$root" exec /usr/bin/python3 -u \
  "$root/tests/hostile/hostile.py" --build="$root" "$@"
