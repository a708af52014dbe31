#!/usr/bin/env bash
# Runs one Python unittest file from the root of the runfiles; helpers beside it can be imported.
#
#   tests/python_test.sh FILE      as ingot_python_test (defs.bzl) does
#   tests/python_test.sh --help
set -u

case "${1:-}" in
  --help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  -* | "") echo "tests/python_test.sh: a file is needed, not '${1:-}'; see --help" >&2; exit 2 ;;
esac
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$(dirname "$1"):$PWD" exec python3 -u "$1" -v
