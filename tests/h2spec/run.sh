#!/usr/bin/env bash
# h2spec against the daemon: tests/h2spec/run.sh; --help lists the flags. Builds what it needs.
set -euo pipefail
root=$(dirname "$(readlink -f "$0")")/../..
root=$(readlink -f "$root")
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/h2spec:$root" exec python3 -u "$root/tests/h2spec/h2spec.py" \
  --build="$root" "$@"
