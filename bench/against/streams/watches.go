package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
)

const watchPrefix = "bench/watch/"

func openWatch(stream pb.Watch_WatchClient, key, end string) {
	create := &pb.WatchCreateRequest{Key: []byte(key), RangeEnd: []byte(end)}
	require(stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: create}}))
}

// watchDeletes tells 0 once it watches, and then how many keys of leases were deleted.
func watchDeletes(connection *grpc.ClientConn, deletes chan<- int) {
	stream, err := pb.NewWatchClient(connection).Watch(context.Background())
	require(err)
	openWatch(stream, leasePrefix, leasePrefix+"\xff")
	for {
		response, err := stream.Recv()
		require(err)
		count := 0
		for _, event := range response.Events {
			if event.Type == mvccpb.DELETE {
				count++
			}
		}
		if response.Created || count > 0 {
			deletes <- count
		}
	}
}

func keyOf(s settings, watcher int) string {
	if s.oneKey {
		return watchPrefix + "one"
	}
	return watchPrefix + strconv.Itoa(watcher)
}

// streams opens all watches, spread over the connections, and waits until they are there. Each response goes to `take`.
func streams(s settings, take func(stream int, response *pb.WatchResponse)) {
	connections := connect(s)
	var created sync.WaitGroup
	created.Add(s.watchers)
	for i, connection := range connections {
		stream, err := pb.NewWatchClient(connection).Watch(context.Background())
		require(err)
		go func(i int) {
			for {
				response, err := stream.Recv()
				require(err)
				if response.Canceled {
					require(fmt.Errorf("a watch was cancelled: %s", response.CancelReason))
				}
				if response.Created {
					created.Done()
				}
				take(i, response)
			}
		}(i)
		for watcher := i; watcher < s.watchers; watcher += len(connections) {
			openWatch(stream, keyOf(s, watcher), "")
		}
	}
	created.Wait()
}

// A put whose events are not all there.
type sent struct {
	left int64
	done chan struct{}
}

type watched struct {
	Watchers, Puts, Events int
	EventsPerS             float64
	Latency                latencies // from before a put to its event at a watcher
	All                    latencies // and to its last event
}

// watch puts in loops, each of which waits until all watchers have seen its put.
func watch(s settings) any {
	began := time.Now()
	loops := make([]sent, s.outstanding)
	for i := range loops {
		loops[i].done = make(chan struct{}, 1)
	}
	seen := make([][]time.Duration, s.connections)
	streams(s, func(stream int, response *pb.WatchResponse) {
		for _, event := range response.Events {
			words := strings.Fields(string(event.Kv.Value)) // the loop, and when it began
			loop, err := strconv.Atoi(words[0])
			require(err)
			at, err := strconv.ParseInt(words[1], 10, 64)
			require(err)
			seen[stream] = append(seen[stream], time.Since(began)-time.Duration(at))
			if atomic.AddInt64(&loops[loop].left, -1) == 0 {
				loops[loop].done <- struct{}{}
			}
		}
	})
	keys := pb.NewKVClient(connect(settings{endpoint: s.endpoint, connections: 1})[0])
	events := int64(1)
	if s.oneKey {
		events = int64(s.watchers)
	}
	all := make([][]time.Duration, s.outstanding)
	start := time.Now()
	var wait sync.WaitGroup
	for i := range loops {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			for n := i; time.Since(start) < s.duration; n += len(loops) {
				atomic.StoreInt64(&loops[i].left, events)
				asked := time.Since(began)
				require(put(context.Background(), keys, keyOf(s, n%s.watchers), fmt.Sprint(i, " ", int64(asked))))
				<-loops[i].done
				all[i] = append(all[i], time.Since(began)-asked)
			}
		}(i)
	}
	wait.Wait()
	elapsed := time.Since(start)
	var each, whole []time.Duration
	for _, some := range seen {
		each = append(each, some...)
	}
	for _, some := range all {
		whole = append(whole, some...)
	}
	return watched{s.watchers, len(whole), len(each), float64(len(each)) / elapsed.Seconds(), latenciesOf(each),
		latenciesOf(whole)}
}

// idle says when its watches are there, and keeps them.
func idle(s settings) any {
	streams(s, func(int, *pb.WatchResponse) {})
	fmt.Println("{}")
	bufio.NewReader(os.Stdin).ReadString('\n')
	return map[string]int{"Watchers": s.watchers}
}
