// Plays a scenario's steps with etcd's own client library, as a program that was written for etcd would.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/golang/protobuf/jsonpb"
	"github.com/golang/protobuf/proto"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"ingot/tests/clients/steps"
)

const (
	dialTimeout = 100 * time.Second // only ends a run that hangs
	keepAlive   = 10 * time.Second  // the least that grpc-go allows
)

func dial(endpoint string, keepAliveTime time.Duration) *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: dialTimeout,
		DialKeepAliveTime: keepAliveTime})
	steps.Require(err)
	return client
}

func decode(text json.RawMessage, request proto.Message) {
	steps.Require(jsonpb.UnmarshalString(string(text), request))
}

func answer(response proto.Message, err error) steps.Answer {
	var refused rpctypes.EtcdError
	switch {
	case errors.As(err, &refused):
		return steps.Answer{Code: refused.Code().String(), Text: refused.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return steps.Answer{Code: "DEADLINE_EXCEEDED", Text: err.Error()}
	case err != nil:
		return steps.Answer{Code: status.Code(err).String(), Text: status.Convert(err).Message()}
	}
	text, err := (&jsonpb.Marshaler{OrigName: true}).MarshalToString(response)
	steps.Require(err)
	return steps.Answer{Code: "OK", Text: text}
}

func rangeOptions(r *pb.RangeRequest) []clientv3.OpOption {
	options := []clientv3.OpOption{clientv3.WithLimit(r.Limit), clientv3.WithRev(r.Revision)}
	if len(r.RangeEnd) > 0 {
		options = append(options, clientv3.WithRange(string(r.RangeEnd)))
	}
	if r.SortOrder != pb.RangeRequest_NONE {
		options = append(options, clientv3.WithSort(clientv3.SortTarget(r.SortTarget), clientv3.SortOrder(r.SortOrder)))
	}
	for given, option := range map[*bool]clientv3.OpOption{&r.Serializable: clientv3.WithSerializable(),
		&r.KeysOnly: clientv3.WithKeysOnly(), &r.CountOnly: clientv3.WithCountOnly()} {
		if *given {
			options = append(options, option)
		}
	}
	return options
}

func putOptions(r *pb.PutRequest) []clientv3.OpOption {
	options := []clientv3.OpOption{clientv3.WithLease(clientv3.LeaseID(r.Lease))}
	if r.PrevKv {
		options = append(options, clientv3.WithPrevKV())
	}
	if r.IgnoreValue {
		options = append(options, clientv3.WithIgnoreValue())
	}
	return options
}

func deleteOptions(r *pb.DeleteRangeRequest) []clientv3.OpOption {
	options := []clientv3.OpOption{}
	if len(r.RangeEnd) > 0 {
		options = append(options, clientv3.WithRange(string(r.RangeEnd)))
	}
	if r.PrevKv {
		options = append(options, clientv3.WithPrevKV())
	}
	return options
}

func operations(all []*pb.RequestOp) []clientv3.Op {
	made := []clientv3.Op{}
	for _, each := range all {
		switch r := each.Request.(type) {
		case *pb.RequestOp_RequestRange:
			made = append(made, clientv3.OpGet(string(r.RequestRange.Key), rangeOptions(r.RequestRange)...))
		case *pb.RequestOp_RequestPut:
			made = append(made, clientv3.OpPut(string(r.RequestPut.Key), string(r.RequestPut.Value),
				putOptions(r.RequestPut)...))
		case *pb.RequestOp_RequestDeleteRange:
			made = append(made, clientv3.OpDelete(string(r.RequestDeleteRange.Key),
				deleteOptions(r.RequestDeleteRange)...))
		case *pb.RequestOp_RequestTxn:
			made = append(made, clientv3.OpTxn(compares(r.RequestTxn), operations(r.RequestTxn.Success),
				operations(r.RequestTxn.Failure)))
		}
	}
	return made
}

func compares(r *pb.TxnRequest) []clientv3.Cmp {
	made := []clientv3.Cmp{}
	for _, each := range r.Compare {
		made = append(made, compareOf(each))
	}
	return made
}

func call(ctx context.Context, client *clientv3.Client, step steps.Step) steps.Answer {
	endpoint := client.Endpoints()[0]
	ctx = metadata.NewOutgoingContext(ctx, metadata.New(step.Metadata))
	switch strings.TrimPrefix(step.Method, "etcdserverpb.") {
	case "KV/Range":
		var r pb.RangeRequest
		decode(step.Request, &r)
		response, err := client.Get(ctx, string(r.Key), rangeOptions(&r)...)
		return answer((*pb.RangeResponse)(response), err)
	case "KV/Put":
		var r pb.PutRequest
		decode(step.Request, &r)
		response, err := client.Put(ctx, string(r.Key), string(r.Value), putOptions(&r)...)
		return answer((*pb.PutResponse)(response), err)
	case "KV/DeleteRange":
		var r pb.DeleteRangeRequest
		decode(step.Request, &r)
		response, err := client.Delete(ctx, string(r.Key), deleteOptions(&r)...)
		return answer((*pb.DeleteRangeResponse)(response), err)
	case "KV/Txn":
		var r pb.TxnRequest
		decode(step.Request, &r)
		response, err := client.Txn(ctx).If(compares(&r)...).Then(operations(r.Success)...).
			Else(operations(r.Failure)...).Commit()
		return answer((*pb.TxnResponse)(response), err)
	case "KV/Compact":
		var r pb.CompactionRequest
		decode(step.Request, &r)
		response, err := client.Compact(ctx, r.Revision)
		return answer((*pb.CompactionResponse)(response), err)
	// These dial the endpoint anew.
	case "Maintenance/Status":
		response, err := client.Status(ctx, endpoint)
		return answer((*pb.StatusResponse)(response), err)
	case "Maintenance/HashKV":
		response, err := client.HashKV(ctx, endpoint, 0)
		return answer((*pb.HashKVResponse)(response), err)
	case "Maintenance/Defragment":
		response, err := client.Defragment(ctx, endpoint)
		return answer((*pb.DefragmentResponse)(response), err)
	case "Cluster/MemberList":
		response, err := client.MemberList(ctx)
		return answer((*pb.MemberListResponse)(response), err)
	}
	return steps.Answer{Code: "SKIPPED"}
}

// watch opens a watch on the key of a put, makes it, and answers with what the watch tells.
func watch(client *clientv3.Client, step steps.Step) steps.Answer {
	var r pb.PutRequest
	decode(step.Request, &r)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	watching := client.Watch(ctx, string(r.Key), clientv3.WithCreatedNotify())
	<-watching // from now on it sees each put
	if put := call(ctx, client, step); put.Code != "OK" {
		return put
	}
	for response := range watching {
		if response.Err() != nil {
			return answer(nil, response.Err())
		}
		for _, event := range response.Events {
			return answer(event.Kv, nil)
		}
	}
	return steps.Answer{Code: "ERROR", Text: "the watch ended without an event"}
}

func play(client *clientv3.Client, step steps.Step) steps.Answer {
	again := func() steps.Answer { return call(context.Background(), client, step) }
	switch {
	case step.Path != "/"+step.Method || step.Gzip:
		return steps.Answer{Code: "SKIPPED"}
	case step.Do == "call":
		return again()
	case step.Do == "keepalive":
		again()
		time.Sleep(time.Duration(step.WaitMs) * time.Millisecond)
		return again()
	case step.Do == "watch":
		return watch(client, step)
	case step.Do == "parallel":
		return steps.Parallel(step.Count, again)
	case step.Do == "until":
		return steps.Until(step.Step, func(ctx context.Context) steps.Answer { return call(ctx, client, step) })
	}
	return steps.Answer{Code: "SKIPPED"}
}

func main() {
	endpoint, _, all := steps.Arguments()
	client, pinging := dial(endpoint, 0), dial(endpoint, keepAlive)
	for _, step := range all {
		if step.Do == "keepalive" {
			steps.Print(step.Step, play(pinging, step))
		} else {
			steps.Print(step.Step, play(client, step))
		}
	}
}
