# Where the packages were in etcd 3.4, which was one module.
s,go.etcd.io/etcd/api/v3/etcdserverpb,go.etcd.io/etcd/etcdserver/etcdserverpb,
s,go.etcd.io/etcd/api/v3/v3rpc/rpctypes,go.etcd.io/etcd/etcdserver/api/v3rpc/rpctypes,
s,go.etcd.io/etcd/client/v3,go.etcd.io/etcd/clientv3,
