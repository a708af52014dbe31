#!/usr/bin/env bash
# Chaos against a real daemon, for any time: tests/chaos/run.sh --kills=300 --stops=100 [-o json]; --help lists the
# other flags. Builds what it needs.
set -euo pipefail
root=$(dirname "$(readlink -f "$0")")/../..
root=$(readlink -f "$root")
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/chaos:$root" exec python3 -u "$root/tests/chaos/chaos.py" \
  --build="$root" "$@"
