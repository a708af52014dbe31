# Builds Go programs in fixed versions. To be sourced by the build.sh beside a go.mod, in whose folder it is called.
#
#   go_program NAME PACKAGE WHAT FILE...    WHAT names it in messages; FILE...: what it is made of
#
# Prints the program's path. The first time it fetches what the package needs from the Go module proxy; go.sum has the
# checksums. Ends the script with 1 if it does not build, with 3 and the reason if there is no Go or no proxy.
go_program() {
  local name=$1 package=$2 what=$3
  shift 3
  local cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ingot/go
  mkdir -p "$cache" || { echo "$cache cannot be made" >&2; exit 3; }
  export GOPATH=$cache GOCACHE=$cache/build GOTOOLCHAIN=local GOFLAGS="-mod=readonly -modcacherw" GOENV=off
  export GO111MODULE=on
  local program
  program=$cache/$name-$(cat "$@" | sha256sum | cut -c1-16)
  if [ ! -x "$program" ]; then
    command -v go >/dev/null || { echo "$what needs Go, and there is no Go here (apt install golang-go)" >&2; exit 3; }
    timeout 600 go list -deps "$package" >/dev/null ||
      { echo "$what could not be fetched from the Go module proxy; is there a network?" >&2; exit 3; }
    go build -o "$program.$$" "$package" >&2 && mv "$program.$$" "$program" ||
      { echo "$what does not build" >&2; exit 1; }
  fi
  echo "$program"
}
