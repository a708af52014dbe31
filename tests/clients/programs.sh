#!/usr/bin/env bash
# Programs that were written for etcd, on the daemon: tests/clients/programs.sh --program=coredns; --help lists the
# flags. Builds what it needs.
set -euo pipefail
root=$(dirname "$(readlink -f "$0")")/../..
root=$(readlink -f "$root")
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/clients:$root" exec python3 -u "$root/tests/clients/programs.py" \
  --build="$root" "$@"
