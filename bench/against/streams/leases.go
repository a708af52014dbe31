package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

const (
	keysOfTxn   = 100 // etcd allows 128 operations
	granters    = 16  // of each connection
	leasePrefix = "bench/lease/"
)

// each calls once for each number below count, from granters calls at once on each connection.
func each(connections []*grpc.ClientConn, count int, call func(client pb.LeaseClient, at int64)) {
	next := int64(-1)
	var wait sync.WaitGroup
	for i := 0; i < granters*len(connections); i++ {
		client := pb.NewLeaseClient(connections[i%len(connections)])
		wait.Add(1)
		go func() {
			defer wait.Done()
			for at := atomic.AddInt64(&next, 1); at < int64(count); at = atomic.AddInt64(&next, 1) {
				call(client, at)
			}
		}()
	}
	wait.Wait()
}

// grant makes the leases, and tells how long that took.
func grant(s settings, connections []*grpc.ClientConn) ([]int64, time.Duration) {
	ids := make([]int64, s.leases)
	began := time.Now()
	each(connections, s.leases, func(client pb.LeaseClient, at int64) {
		granted, err := client.LeaseGrant(context.Background(), &pb.LeaseGrantRequest{TTL: int64(s.ttl.Seconds())})
		require(err)
		ids[at] = granted.ID
	})
	return ids, time.Since(began)
}

func revoke(connections []*grpc.ClientConn, ids []int64) {
	each(connections, len(ids), func(client pb.LeaseClient, at int64) {
		client.LeaseRevoke(context.Background(), &pb.LeaseRevokeRequest{ID: ids[at]}) // it may have ended
	})
}

// keeper sends keep-alives on a stream, with so many unanswered at most. A server answers those of a stream in order.
type keeper struct {
	stream pb.Lease_LeaseKeepAliveClient
	asked  chan time.Time
	lost   int
	took   []time.Duration
	ended  sync.WaitGroup
}

func keeperOn(connection *grpc.ClientConn, outstanding int) *keeper {
	stream, err := pb.NewLeaseClient(connection).LeaseKeepAlive(context.Background())
	require(err)
	k := &keeper{stream: stream, asked: make(chan time.Time, outstanding)}
	k.ended.Add(1)
	go func() {
		defer k.ended.Done()
		for asked := range k.asked {
			answer, err := stream.Recv()
			require(err)
			k.took = append(k.took, time.Since(asked))
			if answer.TTL <= 0 {
				k.lost++
			}
		}
	}()
	return k
}

func (k *keeper) send(id int64) {
	k.asked <- time.Now()
	require(k.stream.Send(&pb.LeaseKeepAliveRequest{ID: id}))
}

// finish waits for all answers.
func (k *keeper) finish() {
	close(k.asked)
	k.ended.Wait()
	k.stream.CloseSend()
}

type kept struct {
	Leases, KeepAlives, Lost int
	GrantsPerS, PerS         float64
	Latency                  latencies
}

// keep has each connection keep its share of the leases alive by `how`, and sums up.
func keep(s settings, connections []*grpc.ClientConn, ids []int64, how func(*keeper, []int64)) kept {
	keepers := make([]*keeper, len(connections))
	began := time.Now()
	var wait sync.WaitGroup
	for i, connection := range connections {
		share := ids[i*len(ids)/len(connections) : (i+1)*len(ids)/len(connections)]
		k := keeperOn(connection, s.outstanding)
		keepers[i] = k
		wait.Add(1)
		go func() { defer wait.Done(); how(k, share); k.finish() }()
	}
	wait.Wait()
	elapsed := time.Since(began)
	found := kept{Leases: len(ids)}
	var took []time.Duration
	for _, k := range keepers {
		found.KeepAlives += len(k.took)
		found.Lost += k.lost
		took = append(took, k.took...)
	}
	found.PerS = float64(found.KeepAlives) / elapsed.Seconds()
	found.Latency = latenciesOf(took)
	return found
}

func keepAlives(s settings) any {
	connections := connect(s)
	ids, _ := grant(s, connections)
	end := time.Now().Add(s.duration)
	found := keep(s, connections, ids, func(k *keeper, share []int64) {
		for i := 0; len(share) > 0 && time.Now().Before(end); i++ {
			k.send(share[i%len(share)])
		}
	})
	revoke(connections, ids)
	return found
}

// hold keeps each alive three times in its time, evenly spread.
func hold(s settings) any {
	connections := connect(s)
	ids, granting := grant(s, connections)
	began := time.Now()
	found := keep(s, connections, ids, func(k *keeper, share []int64) {
		for i := 0; len(share) > 0; i++ {
			due := began.Add(time.Duration(i) * s.ttl / time.Duration(3*len(share)))
			if due.Sub(began) > s.duration {
				return
			}
			time.Sleep(time.Until(due))
			k.send(share[i%len(share)])
		}
	})
	found.GrantsPerS = float64(s.leases) / granting.Seconds()
	revoke(connections, ids)
	return found
}

// attach gives each lease a key of its own.
func attach(connection *grpc.ClientConn, ids []int64) {
	keys := pb.NewKVClient(connection)
	for from := 0; from < len(ids); from += keysOfTxn {
		txn := &pb.TxnRequest{}
		for at := from; at < from+keysOfTxn && at < len(ids); at++ {
			request := &pb.PutRequest{Key: []byte(leasePrefix + strconv.Itoa(at)), Lease: ids[at]}
			txn.Success = append(txn.Success, &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: request}})
		}
		_, err := keys.Txn(context.Background(), txn)
		require(err)
	}
}

type expired struct {
	Leases        int
	GrantsPerS    float64
	FirstS, LastS float64 // the first and the last end, after the last keep-alive
	Puts          int
	PutPauseMsMax float64 // between two answers of a loop of puts, while they ended
	Put           latencies
	PutBefore     latencies // while nothing ended
}

// putUntil puts one key after another has been answered.
func putUntil(keys pb.KVClient, ended <-chan struct{}) (took []time.Duration, pause time.Duration) {
	last := time.Now()
	for i := 0; ; i++ {
		select {
		case <-ended:
			return
		default:
		}
		require(put(context.Background(), keys, fmt.Sprint("bench/put/", i%1000), "x"))
		now := time.Now()
		took = append(took, now.Sub(last))
		if now.Sub(last) > pause {
			pause = now.Sub(last)
		}
		last = now
	}
}

func expire(s settings) any {
	connections := connect(s)
	ids, granting := grant(s, connections)
	attach(connections[0], ids)
	keys := pb.NewKVClient(connections[0])
	quiet := make(chan struct{})
	time.AfterFunc(s.duration, func() { close(quiet) })
	before, _ := putUntil(keys, quiet)

	deletes := make(chan int, 1024)
	go watchDeletes(connections[len(connections)-1], deletes)
	<-deletes // the watch is there
	keep(s, connections, ids, func(k *keeper, share []int64) {
		for _, id := range share {
			k.send(id)
		}
	})
	kept := time.Now()
	found := expired{Leases: len(ids), GrantsPerS: float64(s.leases) / granting.Seconds(), PutBefore: latenciesOf(before)}
	time.Sleep(time.Until(kept.Add(s.ttl - time.Second)))
	ended := make(chan struct{})
	go func() {
		for left := len(ids); left > 0; {
			count := <-deletes
			if left == len(ids) {
				found.FirstS = time.Since(kept).Seconds()
			}
			left -= count
		}
		found.LastS = time.Since(kept).Seconds()
		close(ended)
	}()
	took, pause := putUntil(keys, ended)
	found.Puts, found.PutPauseMsMax, found.Put = len(took), float64(pause)/1e6, latenciesOf(took)
	return found
}
