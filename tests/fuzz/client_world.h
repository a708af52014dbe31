// A front end's loop with all that serves clients, and its clients, by turns on one thread and by the test's clock: HTTP/2
// sessions, KV, leases, the hub of watches, all of it with JSON, too, and a store. No call is passed on.
//
// A link takes the place of a connection's socket, and of what the server does there: it reads by turns, writes what
// the peer takes, and ends a peer that takes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"
#include "services/etcd/kv_methods.h"
#include "services/etcd/lease_methods.h"
#include "services/rpc/server/session.h"
#include "services/rpc/server/shared.h"
#include "services/watch/watch_methods.h"
#include "tests/fuzz/client_stage.h"
#include "tests/fuzz/client_store.h"
#include "tests/fuzz/heap_meter.h"

namespace ingot::fuzz {

class World;

class Link final : public Client, public rpc::SessionHost {
 public:
  Link(std::string address, bool keeps)
      : Client(keeps), caller_{Caller::Door::kTcp, std::move(address), std::nullopt} {}

  bool open() const { return session_ != nullptr; }

 private:
  friend class World;

  // SessionHost: each round looks at all links.
  void has_output() override {}
  void read_on() override {}
  const Caller& caller() const override { return caller_; }
  std::size_t unsent_bytes() const override { return unsent_.size(); }

  std::size_t owed_bytes() const { return unsent_.size() + session_->finished_output_bytes(); }

  const Caller caller_;
  std::unique_ptr<rpc::Session> session_;
  std::string inbox_;   // the server has not read it
  std::string unsent_;  // frames that the peer has not taken
  bool ending_ = false;
  std::uint64_t progress_ns_ = 0;  // when the peer last took something, or nothing waited for it
};

class World final : public Stage {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // The first link is the ordinary client's.
  std::size_t clients() const override { return links_.size() - 1; }
  Client& client(std::size_t index) override { return *links_[index + 1]; }
  Client* connect(std::uint32_t stream_window) override;
  void close(Client& client) override;

  // Then the server's memory is compared with what it may have.
  void round(std::uint64_t ms) override;
  bool over() const override;

  void put(const std::string& key, const std::string& value) override;
  void remove(const std::string& key, const std::string& end) override;
  void compact() override { store_.write(kv::CompactRequest{store_.revision()}); }
  std::int64_t revision() override { return store_.revision(); }

  void ask_ordinary(std::size_t value_bytes) override;

 private:
  // What the ordinary client has asked for, by stream, and what it has heard.
  struct Asked {
    int put = 0, range = 0, watch = 0;
    std::int64_t put_revision = 0, event_revision = 0;
    bool has_range = false, has_watch = false, has_event = false;
  };

  void add_methods();
  void serve();
  void read(Link& link);
  void flush(Link& link);
  void look_at_progress(Link& link);
  void exchange(Link& link);
  void end(Link& link);

  // client_oracles.cc
  void check_memory();
  std::size_t check_watch_output();
  void await_answers(Asked& asked);
  void hear_calls(Asked& asked);
  void hear_events(Asked& asked);
  void watch_ordinary();

  HeapMeter meter_;
  ClientStore store_;
  DaemonConfig config_;
  InstanceView view_;
  rpc::Methods methods_;
  watch::WatchCounters watch_counters_;
  std::unique_ptr<rpc::Shared> shared_;
  std::unique_ptr<etcd::KvMethods> kv_;
  std::unique_ptr<etcd::LeaseMethods> leases_;
  std::vector<std::function<void()>> later_;  // of the next round
  std::unique_ptr<watch::WatchMethods> watches_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<rpc::Call> watch_calls_;  // of the schedule's and the ordinary client's watch streams
  std::size_t watches_max_ = 0;         // at a time
  std::size_t links_made_ = 0;
  int ordinary_watch_ = 0;
  int rounds_ = 0;
};

}  // namespace ingot::fuzz
