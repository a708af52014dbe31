// A front end's loop with all that serves clients, and its clients, by turns on one thread and by the test's clock: HTTP/2
// sessions, KV, the hub of watches, and a store.
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
#include "services/rpc/server/session.h"
#include "services/rpc/server/shared.h"
#include "services/watch/watch_methods.h"
#include "tests/fuzz/client_peer.h"
#include "tests/fuzz/client_store.h"
#include "tests/fuzz/heap_meter.h"

namespace ingot::fuzz {

class World;

class Link final : public rpc::SessionHost {
 public:
  static constexpr std::size_t kAll = ~std::size_t{0};

  Link(std::string address, bool keeps)
      : peer(keeps), caller_{Caller::Door::kTcp, std::move(address), std::nullopt} {}

  bool open() const { return session_ != nullptr; }

  Peer peer;
  std::size_t reads_bytes = kAll;  // that the peer takes in a round

 private:
  friend class World;

  // SessionHost: each round looks at all links.
  void has_output() override {}
  void read_on() override {}
  const Caller& caller() const override { return caller_; }

  std::size_t owed_bytes() const { return unsent_.size() + session_->finished_output_bytes(); }

  const Caller caller_;
  std::unique_ptr<rpc::Session> session_;
  std::string inbox_;   // the server has not read it
  std::string unsent_;  // frames that the peer has not taken
  bool ending_ = false;
  std::uint64_t progress_ns_ = 0;  // when the peer last took something, or nothing waited for it
};

class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  static constexpr std::size_t kLinksMax = 20;

  // All but the first are for the schedule.
  std::vector<std::unique_ptr<Link>>& links() { return links_; }
  Link* connect(std::uint32_t stream_window);  // null: there are enough
  void close(Link& link);
  ClientStore& store() { return store_; }
  int rounds() const { return rounds_; }

  // A round of the loop, so much later; then the server's memory is compared with what it may have.
  void round(std::uint64_t ms);

  // The ordinary client puts a value, reads it, and watches its key, newly and since the beginning. Ends the process if
  // it does not hear of all that in time.
  void ask_ordinary(std::size_t value_bytes);

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
