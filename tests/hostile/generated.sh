#!/usr/bin/env bash
# Drawn schedules of what clients may do, against an ingotd that this starts: tests/hostile/generated.sh --hours=8;
# --help lists the flags. Builds what it needs.
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
case " $* " in *" --help "* | *" -h "*) ;; *)
  (cd "$root" && bazel build //services/ingotd //tests/fuzz:client_player >&2) ;;
esac
cd "$root/bazel-bin" 2>/dev/null || cd "$root"
# Debian's Python has the gRPC that deploy/install.sh --tests installs.
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/tests/hostile:$root" exec /usr/bin/python3 -u \
  "$root/tests/hostile/generated.py" "$@"
