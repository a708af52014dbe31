#!/usr/bin/env bash
# Recipes of leases with clients of several languages: tests/clients/recipes.sh --target=both; --help lists the flags.
# Builds what it needs.
set -euo pipefail
root=$(dirname "$(readlink -f "$0")")/../..
root=$(readlink -f "$root")
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/clients:$root" exec python3 -u "$root/tests/clients/recipes.py" \
  --build="$root" "$@"
