#!/usr/bin/env bash
# Runs one Python unittest file from the root of the runfiles; helpers beside it can be imported.
set -u
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$(dirname "$1"):$PWD" exec python3 -u "$1" -v
