// Drives leases and watches of a server of etcd's API by its streams, and prints what it has measured as a JSON object.
// bench/lease and bench/watch call it; the flags below are those of all measurements.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// What is driven, and how much of it.
type settings struct {
	endpoint    string
	connections int
	leases      int
	ttl         time.Duration
	outstanding int
	duration    time.Duration
	watchers    int
	oneKey      bool
}

var measurements = map[string]func(settings) any{
	"keep-alives": keepAlives, // a second, as many as go
	"hold":        hold,       // many leases, each kept alive when that is due
	"expire":      expire,     // many leases that end at once, with puts beside
	"watch":       watch,      // puts, and their events at watchers
	"idle":        idle,       // watches that see nothing, until standard input ends
}

func require(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// connect has one connection for each stream.
func connect(s settings) []*grpc.ClientConn {
	connections := make([]*grpc.ClientConn, s.connections)
	for i := range connections {
		connection, err := grpc.Dial(s.endpoint, grpc.WithInsecure(), grpc.WithBlock())
		require(err)
		connections[i] = connection
	}
	return connections
}

// latencies are in microseconds.
type latencies struct {
	P50, P99, Max float64
}

func latenciesOf(all []time.Duration) latencies {
	if len(all) == 0 {
		return latencies{}
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	at := func(share float64) float64 { return float64(all[int(share*float64(len(all)-1))]) / 1e3 }
	return latencies{at(0.5), at(0.99), at(1)}
}

func put(ctx context.Context, keys pb.KVClient, key, value string) error {
	_, err := keys.Put(ctx, &pb.PutRequest{Key: []byte(key), Value: []byte(value)})
	return err
}

func main() {
	var s settings
	flag.StringVar(&s.endpoint, "endpoint", "127.0.0.1:2379", "of the server")
	flag.IntVar(&s.connections, "connections", 8, "each with one stream")
	flag.IntVar(&s.leases, "leases", 1000, "how many")
	flag.DurationVar(&s.ttl, "ttl", time.Minute, "of a lease")
	flag.IntVar(&s.outstanding, "outstanding", 32, "keep-alives of a stream, or puts, without an answer")
	flag.DurationVar(&s.duration, "duration", 2*time.Second, "of the measurement")
	flag.IntVar(&s.watchers, "watchers", 1, "how many, on all connections together")
	flag.BoolVar(&s.oneKey, "one-key", false, "all watchers watch one key; else each has its own")
	what := ""
	if len(os.Args) > 1 {
		what = os.Args[1]
		os.Args = append(os.Args[:1], os.Args[2:]...)
	}
	flag.Parse()
	measure := measurements[what]
	if measure == nil || flag.NArg() > 0 || s.connections < 1 || s.leases < 1 || s.outstanding < 1 || s.watchers < 1 {
		fmt.Fprintln(os.Stderr, "usage: streams keep-alives|hold|expire|watch|idle FLAGS; each number is at least 1")
		os.Exit(2)
	}
	text, err := json.Marshal(measure(s))
	require(err)
	fmt.Println(string(text))
}
