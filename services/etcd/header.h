// The header of every answer: the answering member and its term. Clients refuse a header with a zero in it.
#pragma once

#include <cstdint>

#include "proto/etcd/rpc.pb.h"
#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"

namespace ingot::etcd {

// Ids and term of the single member that an instance shows. Thread-safe; the config and the view's pages outlive it.
class HeaderSource {
 public:
  HeaderSource(const DaemonConfig& config, const InstanceView& view) : config_(config), view_(view) {}

  // Fills in all fields but the revision.
  void fill(etcdserverpb::ResponseHeader* header) const;

  // Fills in all fields; the revision is the newest that a replica shows.
  void fill_with_revision(etcdserverpb::ResponseHeader* header) const;

  // The highest ballot among the voters; 1 before the first leadership.
  std::uint64_t term() const;

  // The greatest value on any replica's page: for a counter that only grows, the most recent one.
  std::uint64_t greatest(ReplicaCounter id) const;

  // The value on the page of the replica that has applied the most slots: of a gauge that may fall.
  std::uint64_t newest(ReplicaCounter id) const;

  // True if some voter leads.
  bool has_leader() const;

  const DaemonConfig& config() const { return config_; }

 private:
  const DaemonConfig& config_;
  const InstanceView& view_;
};

}  // namespace ingot::etcd
