// The keys and the requests by which etcd makes locks and elections of transactions, as clientv3's package concurrency
// does: so programs that use that package and programs that call these services wait for one another.
//
// A lock's waiters and an election's candidates are keys NAME/LEASE, each with its lease. The one with the lowest
// create revision holds the lock, or leads. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replication/store/api.h"

namespace ingot::locks {

// "NAME/": the begin of all its keys.
std::string prefix_of(const std::string& name);
// "NAME/LEASE", the lease in hexadecimal, as Go prints it.
std::string key_of(const std::string& name, std::int64_t lease);

// The key with the lowest create revision.
kv::RangeRequest first_of(const std::string& prefix);

// Reads that key. A transaction, since a replica looks through many keys of one in steps.
kv::TxnRequest read_first(const std::string& prefix);
// The keys that an operation of a transaction has read. REQUIRES: the operation is a range.
std::vector<kv::KeyValue>& read_by(kv::TxnResult& result, std::size_t operation);

// Makes the key unless it is there. The answers to its operations: of the put, or the key as it is; then the first key
// of the prefix, without its value.
kv::TxnRequest enter(const std::string& prefix, const std::string& key, const std::string& value, std::int64_t lease);
// The last key that was created before the revision, without its value; then the key itself, likewise.
kv::TxnRequest look(const std::string& prefix, const std::string& key, kv::Revision created);

// These do nothing if the key was not created at that revision.
kv::TxnRequest proclaim(const std::string& key, kv::Revision created, const std::string& value, std::int64_t lease);
kv::TxnRequest leave(const std::string& key, kv::Revision created);
// As leave(), and nothing if the key is the first one of the prefix.
kv::TxnRequest leave_unless_first(const std::string& prefix, const std::string& key, kv::Revision created);

}  // namespace ingot::locks
