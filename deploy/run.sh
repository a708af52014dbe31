#!/usr/bin/env bash
# Builds Ingot, starts it, runs ten seconds of load (half by 1 client, half by 64), checks that no write was lost, and
# prints the figures and the addresses for clients. The daemon then stays in the foreground until Ctrl-C.
#
#   ./deploy/run.sh                      three replicas on 127.0.0.1:2379
#   ./deploy/run.sh --replicas=5 --listen=127.0.0.1:3379 --metrics-listen=127.0.0.1:3464
#   ./deploy/run.sh --once               stop after the summary; exit 0 only if every check held
#   ./deploy/run.sh --compare            ten more seconds: etcd's figures on this machine beside Ingot's; installs
#                                        etcd, and starts it with one member on free ports and a temporary folder
#
# Other flags go to ingotd; `bazel-bin/services/ingotd/ingotd --help` explains them, once built. Missing Debian
# packages are installed first (as root or with sudo). Exit codes: 0 all checks held; 1 a check or the build
# failed; 2 a flag is unknown, or ingotd could not start with these flags.
set -euo pipefail
self=$(readlink -f "$0")
cd "$(dirname "$self")/.."

usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$self"; }
fail() {
  echo "deploy/run.sh: $1" >&2
  exit "${2:-1}"
}
# ingotd, which knows its flags, is not built yet: they stand in the table of its settings.
known() { grep -qF "\"$1\"" services/config/settings.h; }
note() { printf '\n==> %s\n' "$1" >&2; }

once=0
compare=()
daemon_flags=()
for argument in "$@"; do
  case "$argument" in
    --once) once=1 ;;
    --compare) compare=(--compare) ;;
    --help | -h) usage; exit 0 ;;
    -*) known "${argument%%=*}" || fail "unknown flag ${argument%%=*}; see --help" 2 ;;&
    *) daemon_flags+=("$argument") ;;
  esac
done

./deploy/install.sh "${compare[@]}"

note "building (the first time takes some minutes)"
bazel build --show_progress --show_progress_rate_limit=2 --noshow_loading_progress --show_result=0 \
  --ui_event_filters=-info //services/ingotd //services/ingotctl //services/ingot_load:ingot-load ||
  fail "the build failed; see above"
ingotd=bazel-bin/services/ingotd/ingotd
ingotctl=bazel-bin/services/ingotctl/ingotctl
ingot_load=bazel-bin/services/ingot_load/ingot-load

pid=
log=$(mktemp)
stop_daemon() {
  [ -z "$pid" ] || ! kill -TERM "$pid" 2>/dev/null || wait "$pid" || true
  rm -f "$log"
}
trap stop_daemon EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

note "starting ingotd ${daemon_flags[*]}"
# ingotd gets its own session, so that Ctrl-C reaches this script first and the load never finds its server gone. Its
# log is shown and kept, since the line "serving", in any format, holds its addresses. tee ignores Ctrl-C, to show the
# rest of the log.
setsid "$ingotd" "${daemon_flags[@]}" 2> >(trap '' INT; exec tee "$log" >&2) &
pid=$!
until grep -q ' control API on ' "$log"; do
  if ! kill -0 "$pid" 2>/dev/null; then
    code=0
    wait "$pid" || code=$?
    pid=
    exit "$code"
  fi
  sleep 0.1
done
serving=$(grep ' control API on ' "$log")
endpoint=$(sed 's/.* API on \([^, ]*\).*/\1/' <<<"$serving")
metrics=$(sed 's/.* metrics \([^," ]*\).*/\1/' <<<"$serving")

note "waiting until every replica is up"
healthy() {
  "$ingotctl" --endpoint="$endpoint" status -o json 2>/dev/null | python3 -c '
import json, sys
sys.exit(any(r["state"] != "up" for r in json.load(sys.stdin)["replicas"]))' 2>/dev/null
}
for ((i = 0; ; ++i)); do
  healthy && break
  [ "$i" -lt 300 ] && kill -0 "$pid" 2>/dev/null || fail "ingotd is not healthy after 30 s; its messages are above"
  sleep 0.1
done

note "ten seconds of load${compare:+, and ten through etcd, by turns}"
held=1
./deploy/short_load.py --endpoint="$endpoint" --ingot-load="$ingot_load" "${compare[@]}" || held=0

# Lagging replicas catch up within moments once there is no load; then their states must be equal.
replicas_agree() {
  "$ingotctl" --endpoint="$endpoint" status --digest -o json | python3 -c '
import json, sys
replicas = json.load(sys.stdin)["replicas"]
sys.exit(len({(r["digest_slot"], r["digest"]) for r in replicas}) != 1 or replicas[0]["digest"] is None)'
}
note "the replicas afterwards"
for ((i = 0; i < 50; ++i)); do
  replicas_agree && break
  sleep 0.1
done
"$ingotctl" --endpoint="$endpoint" status --digest || held=0
if replicas_agree; then
  echo "the replicas agree: equal digests at one slot"
else
  echo "the replicas DISAGREE, or one is missing"
  held=0
fi

cat <<END

Point your tools here:
  etcdctl     etcdctl --endpoints=$endpoint put greeting hello
  ingotctl    $ingotctl --endpoint=$endpoint watch-status
  gRPC        $endpoint, without TLS, with reflection
  Prometheus  $metrics
END

if [ "$once" -eq 1 ]; then
  note "stopping ingotd"
  kill -TERM "$pid"
  code=0
  wait "$pid" || code=$?
  pid=
  [ "$code" -eq 0 ] || fail "ingotd ended with exit code $code, not 0"
  [ "$held" -eq 1 ] || fail "a check failed; see above"
  echo "every check held" >&2
  exit 0
fi
[ "$held" -eq 1 ] || echo "deploy/run.sh: a check FAILED; see above" >&2
printf '\nCtrl-C stops ingotd.\n' >&2
# The first wait ends with the signal, the second with ingotd's own exit code.
stopping=0
trap 'stopping=1; kill -TERM "$pid" 2>/dev/null || true' INT TERM
code=0
wait "$pid" || code=$?
if [ "$stopping" -eq 1 ]; then
  code=0
  wait "$pid" || code=$?
fi
pid=
exit "$code"
