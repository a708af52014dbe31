// A store's gauges (sizes and counts of what it holds) on its replica's page.
#pragma once

#include <algorithm>

#include "replication/pages/pages.h"
#include "replication/store/kv_store.h"

namespace ingot::inline replication_store {

inline void publish_store(const kv::KvStore& store, ReplicaPage& page) {
  page[ReplicaCounter::kStoreRevision].set(store.revision());
  page[ReplicaCounter::kStoreCompactRevision].set(std::max<kv::Revision>(store.compact_revision(), 0));
  page[ReplicaCounter::kStoreKeys].set(store.live_keys());
  page[ReplicaCounter::kStoreBytes].set(store.bytes());
  page[ReplicaCounter::kStoreLiveBytes].set(store.counted().live);
  page[ReplicaCounter::kStoreHistoryBytes].set(store.counted().history);
  page[ReplicaCounter::kStoreQuotaBytes].set(store.quota().bytes());
  page[ReplicaCounter::kStoreNoSpace].set(store.no_space());
  page[ReplicaCounter::kStoreLeases].set(store.leases());
  page[ReplicaCounter::kStoreLeasesEnded].set(store.leases_ended());
}

}  // namespace ingot::replication_store
