#!/usr/bin/env bash
# The alerts of etcd's mixin over the daemon's metrics: tests/clients/alerts.sh; --help lists the flags. Builds what it
# needs.
set -euo pipefail
root=$(dirname "$(readlink -f "$0")")/../..
root=$(readlink -f "$root")
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/clients:$root" exec python3 -u "$root/tests/clients/alerts.py" \
  --build="$root" "$@"
