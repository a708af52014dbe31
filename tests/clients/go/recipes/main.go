// Holds sessions, mutexes and elections for tests/clients/recipes.sh, with etcd's own package concurrency. holders.py
// has the questions and answers.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ingot/tests/clients/steps"
)

const dialTimeout = 100 * time.Second // only ends a run that hangs

type holder struct {
	client    *clientv3.Client
	mutex     sync.Mutex // guards what follows
	sessions  map[string]*concurrency.Session
	locks     map[string]*concurrency.Mutex
	elections map[string]*concurrency.Election
}

func (h *holder) session(name string) *concurrency.Session {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.sessions[name]
}

func (h *holder) open(name, ttl string) (string, error) {
	seconds, err := strconv.Atoi(ttl)
	if err != nil {
		return "", err
	}
	session, err := concurrency.NewSession(h.client, concurrency.WithTTL(seconds))
	if err != nil {
		return "", err
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.sessions[name] = session
	return fmt.Sprint(int64(session.Lease())), nil
}

func (h *holder) ended(name string) string {
	select {
	case <-h.session(name).Done():
		return "yes"
	default:
		return "no"
	}
}

func (h *holder) lock(ctx context.Context, name, prefix string) (string, error) {
	lock := concurrency.NewMutex(h.session(name), prefix)
	if err := lock.Lock(ctx); err != nil {
		return "", err
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.locks[name+prefix] = lock
	return lock.Key(), nil
}

func (h *holder) campaign(ctx context.Context, name, prefix, value string) (string, error) {
	election := concurrency.NewElection(h.session(name), prefix)
	if err := election.Campaign(ctx, value); err != nil {
		return "", err
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.elections[name+prefix] = election
	return election.Key(), nil
}

func unavailable(err error) bool {
	var refused rpctypes.EtcdError
	if errors.As(err, &refused) {
		return refused.Code() == codes.Unavailable
	}
	return status.Code(err) == codes.Unavailable
}

// increment adds 1 to a key so many times, each in a transaction of the package's STM.
func (h *holder) increment(key, count string) (string, error) {
	times, err := strconv.Atoi(count)
	if err != nil {
		return "", err
	}
	done, uncertain := 0, 0
	for i := 0; i < times; i++ {
		_, err := concurrency.NewSTM(h.client, func(stm concurrency.STM) error {
			number, _ := strconv.Atoi(stm.Get(key)) // at first there is no value
			stm.Put(key, strconv.Itoa(number+1))
			return nil
		})
		switch {
		case err == nil:
			done++
		case unavailable(err):
			uncertain++
		default:
			return "", err
		}
	}
	return fmt.Sprint(done, " ", uncertain), nil
}

func (h *holder) carryOut(words []string) (string, error) {
	ctx := context.Background()
	switch words[0] {
	case "session":
		return h.open(words[1], words[2])
	case "put":
		_, err := h.client.Put(ctx, words[2], words[3], clientv3.WithLease(h.session(words[1]).Lease()))
		return "", err
	case "ended":
		return h.ended(words[1]), nil
	case "lock":
		return h.lock(ctx, words[1], words[2])
	case "unlock":
		h.mutex.Lock()
		lock := h.locks[words[1]+words[2]]
		h.mutex.Unlock()
		return "", lock.Unlock(ctx)
	case "campaign":
		return h.campaign(ctx, words[1], words[2], words[3])
	case "resign":
		h.mutex.Lock()
		election := h.elections[words[1]+words[2]]
		h.mutex.Unlock()
		return "", election.Resign(ctx)
	case "increment":
		return h.increment(words[1], words[2])
	case "close":
		return "", h.session(words[1]).Close()
	}
	return "", errors.New("no question: " + words[0])
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: HOLDER HOST:PORT; tests/clients/recipes.sh calls it")
		os.Exit(2)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Args[1]}, DialTimeout: dialTimeout})
	steps.Require(err)
	h := &holder{client: client, sessions: map[string]*concurrency.Session{}, locks: map[string]*concurrency.Mutex{},
		elections: map[string]*concurrency.Election{}}
	questions := bufio.NewScanner(os.Stdin)
	for questions.Scan() {
		words := strings.Fields(questions.Text())
		go func() {
			text, err := h.carryOut(words[1:])
			if err != nil {
				steps.Print(words[0], steps.Answer{Code: "ERROR", Text: err.Error()})
			} else {
				steps.Print(words[0], steps.Answer{Code: "OK", Text: text})
			}
		}()
	}
}
