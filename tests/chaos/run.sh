#!/usr/bin/env bash
# Chaos against a real daemon, for any time: tests/chaos/run.sh --kills=300 --stops=100 [-o json]; --help lists the
# other flags. Builds what it needs.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
bazel build //services/ingotd //services/ingotctl //tests/chaos:recorder >&2
root=$PWD
cd bazel-bin
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/chaos:$root" exec python3 -u "$root/tests/chaos/chaos.py" "$@"
