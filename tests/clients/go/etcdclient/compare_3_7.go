//go:build etcd3.7

package main

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func compareOf(compare *pb.Compare) clientv3.Cmp { return clientv3.FromCompare(compare) }
