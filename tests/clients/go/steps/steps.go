// Package steps has what both players in Go share: the steps as the runner writes them, how an answer is printed, and
// the steps that make many calls.
package steps

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// Loops of an "until" step, and how long each waits after a failure.
	loops        = 8
	afterFailure = 20 * time.Millisecond
	// Calls after which the runner is told that the load runs.
	underWay = 50
)

// Step is one of the runner's steps; scenario.py says what each field means.
type Step struct {
	Step, Do, Method, Path    string
	Request                   json.RawMessage
	DeadlineMs, WaitMs, Count int
	Gzip                      bool
	Metadata                  map[string]string
}

// Answer of one call: Code is "OK" or the code's name; Text is the server's sentence or the message in JSON.
type Answer struct{ Code, Text string }

// Read ends the program if the file has no steps.
func Read(path string) []Step {
	text, err := os.ReadFile(path)
	Require(err)
	var all []Step
	Require(json.Unmarshal(text, &all))
	return all
}

// Require ends the program with the error.
func Require(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Arguments are ENDPOINT, DESCRIPTORS and STEPS, all three or the program ends.
func Arguments() (endpoint, descriptors string, all []Step) {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: PLAYER HOST:PORT DESCRIPTORS STEPS; tests/clients/run.sh calls it")
		os.Exit(2)
	}
	return os.Args[1], os.Args[2], Read(os.Args[3])
}

// Print writes a step's line.
func Print(name string, answer Answer) {
	fmt.Printf("%s: %s %s\n", name, answer.Code, strings.ReplaceAll(answer.Text, "\n", " "))
}

// Parallel makes count calls at once: OK with the number, or the first that is not.
func Parallel(count int, call func() Answer) Answer {
	answers := make([]Answer, count)
	var wait sync.WaitGroup
	for i := range answers {
		wait.Add(1)
		go func(i int) { defer wait.Done(); answers[i] = call() }(i)
	}
	wait.Wait()
	for _, answer := range answers {
		if answer.Code != "OK" {
			return answer
		}
	}
	return Answer{"OK", fmt.Sprintf(`{"answered": %d}`, count)}
}

type tally struct {
	sync.Mutex
	completed, unfinished int
	failed                map[string]int
	texts                 map[string]int
	revisions             []int64
}

func (t *tally) add(ctx context.Context, name string, answer Answer) {
	t.Lock()
	defer t.Unlock()
	if answer.Code != "OK" && ctx.Err() != nil {
		t.unfinished++
		return
	}
	if answer.Code != "OK" {
		t.failed[answer.Code]++
		t.texts[answer.Text]++
		return
	}
	var message struct {
		Header struct{ Revision json.Number }
	}
	Require(json.Unmarshal([]byte(answer.Text), &message))
	revision, err := message.Header.Revision.Int64()
	Require(err)
	t.revisions = append(t.revisions, revision)
	t.completed++
	if t.completed == underWay {
		fmt.Printf("%s: GOING\n", name)
	}
}

// Until calls in loops, until a line comes on standard input, and prints how the calls ended. A call that waits for a
// server then is unfinished.
func Until(name string, call func(context.Context) Answer) Answer {
	counted := tally{failed: map[string]int{}, texts: map[string]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { bufio.NewReader(os.Stdin).ReadString('\n'); cancel() }()
	var wait sync.WaitGroup
	for i := 0; i < loops; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for {
				answer := call(ctx)
				counted.add(ctx, name, answer)
				pause := time.Duration(0)
				if answer.Code != "OK" {
					pause = afterFailure
				}
				select {
				case <-ctx.Done():
					return
				case <-time.After(pause):
				}
			}
		}()
	}
	wait.Wait()
	text, err := json.Marshal(map[string]any{"completed": counted.completed, "failed": counted.failed,
		"texts": counted.texts, "unfinished": counted.unfinished, "revisions": counted.revisions})
	Require(err)
	return Answer{"OK", string(text)}
}
