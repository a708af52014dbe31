#!/usr/bin/env bash
# etcd's own dashboard over the daemon, through a failover: tests/clients/dashboard.sh --svg=FILE; --help lists the
# flags. Builds what it needs.
set -euo pipefail
root=$(dirname "$(readlink -f "$0")")/../..
root=$(readlink -f "$root")
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/clients:$root" exec python3 -u "$root/tests/clients/dashboard.py" \
  --build="$root" "$@"
