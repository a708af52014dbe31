// Checks recorded histories with Porcupine; `help` says how it is called.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const help = `Checks recorded histories with Porcupine.

    porcupine [--timeout=60s] HISTORY...    --timeout: for one history; 0: none

A history is a file with one JSON object per line, one per operation; tests/chaos/recorded.h describes it. Prints one
JSON object per file. Exit code: 0 all are linearizable, 1 one is not or could not be decided in time, 2 bad input.
`

// One line. A value is the number of an operation; 0: the key does not exist.
type operation struct {
	Client     int    `json:"client"`
	Key        string `json:"key"`
	Kind       string `json:"op"` // get, put, cas
	Written    uint64 `json:"written"`
	Expected   uint64 `json:"expected"` // cas: writes only if the key has this value
	CalledNs   int64  `json:"called_ns"`
	AnsweredNs *int64 `json:"answered_ns"` // missing: unknown outcome; it may take effect at any later time
	Found      uint64 `json:"found"`       // get, and cas that did not succeed
	Succeeded  bool   `json:"succeeded"`   // cas
}

func (o operation) valid() bool {
	kind := o.Kind == "get" || (o.Kind == "put" || o.Kind == "cas") && o.Written != 0
	return kind && o.Key != "" && (o.AnsweredNs == nil || *o.AnsweredNs >= o.CalledNs)
}

// One step of the sequential model, a register that holds a number.
func step(state, input, _ interface{}) (bool, interface{}) {
	value := state.(uint64)
	o := input.(operation)
	known := o.AnsweredNs != nil
	switch o.Kind {
	case "put":
		return true, o.Written
	case "cas":
		succeeds := value == o.Expected
		if known && (succeeds != o.Succeeded || !succeeds && o.Found != value) {
			return false, value
		}
		if succeeds {
			return true, o.Written
		}
		return true, value
	default:
		return !known || o.Found == value, value
	}
}

func byKey(history []porcupine.Operation) [][]porcupine.Operation {
	keys := map[string]int{}
	var parts [][]porcupine.Operation
	for _, each := range history {
		key := each.Input.(operation).Key
		at, known := keys[key]
		if !known {
			at = len(parts)
			keys[key] = at
			parts = append(parts, nil)
		}
		parts[at] = append(parts[at], each)
	}
	return parts
}

func read(path string) ([]porcupine.Operation, int, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	var history []porcupine.Operation
	open := 0
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		var o operation
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %v", path, number, err)
		}
		if !o.valid() {
			return nil, 0, fmt.Errorf("%s:%d: this is no operation", path, number)
		}
		answered := int64(math.MaxInt64)
		if o.AnsweredNs != nil {
			answered = *o.AnsweredNs
		} else {
			open++
		}
		history = append(history, porcupine.Operation{ClientId: o.Client, Input: o, Call: o.CalledNs, Return: answered})
	}
	if lines.Err() == nil && len(history) == 0 {
		return nil, 0, errors.New(path + ": there is no operation in it")
	}
	return history, open, lines.Err()
}

// The first key whose operations, taken alone, are not linearizable.
func culprit(model porcupine.Model, history []porcupine.Operation, timeout time.Duration) string {
	for _, part := range byKey(history) {
		if porcupine.CheckOperationsTimeout(model, part, timeout) == porcupine.Illegal {
			return part[0].Input.(operation).Key
		}
	}
	return ""
}

func judge(path string, timeout time.Duration) (bool, error) {
	history, open, err := read(path)
	if err != nil {
		return false, err
	}
	model := porcupine.Model{Partition: byKey, Init: func() interface{} { return uint64(0) }, Step: step}
	began := time.Now()
	verdict := porcupine.CheckOperationsTimeout(model, history, timeout)
	report := map[string]interface{}{"history": path, "operations": len(history), "open": open,
		"keys": len(byKey(history)), "verdict": verdict, "judged_ms": time.Since(began).Milliseconds()}
	if verdict == porcupine.Illegal {
		report["key"] = culprit(model, history, timeout)
	}
	text, err := json.Marshal(report)
	fmt.Println(string(text))
	return verdict == porcupine.Ok, err
}

func main() {
	refuse := func(why string) {
		fmt.Fprintln(os.Stderr, "porcupine:", why)
		os.Exit(2)
	}
	flags := flag.NewFlagSet("porcupine", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	timeout := flags.Duration("timeout", time.Minute, "")
	err := flags.Parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(help)
		return
	}
	if err != nil {
		refuse(strings.Replace(err.Error(), ": -", ": --", 1) + "; see --help")
	}
	if flags.NArg() == 0 {
		refuse("name the files with the histories; see --help")
	}
	code := 0
	for _, path := range flags.Args() {
		fine, err := judge(path, *timeout)
		if err != nil {
			refuse(err.Error())
		}
		if !fine {
			code = 1
		}
	}
	os.Exit(code)
}
