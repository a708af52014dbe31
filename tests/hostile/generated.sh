#!/usr/bin/env bash
# Drawn schedules of what clients may do, against an ingotd that this starts: tests/hostile/generated.sh --hours=8;
# --help lists the flags. Builds what it needs.
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
# Debian's Python has the gRPC that deploy/install.sh --tests installs.
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/hostile:$root" exec /usr/bin/python3 -u \
  "$root/tests/hostile/generated.py" --build="$root" "$@"
