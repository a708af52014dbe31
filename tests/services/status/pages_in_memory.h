// The pages of an instance in this process's memory; a test writes what the processes would.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "replication/pages/instance_view.h"
#include "services/config/daemon_config.h"

namespace ingot {

// All replicas are up, in their first incarnation, with process ids from 1000 on, unless a test changes it.
class PagesInMemory {
 public:
  explicit PagesInMemory(int replicas) {
    config.name = "test";
    config.replicas = replicas;
    config.voters = replicas;
    daemon.start_unix_ms.set(1'000'000);
    daemon.supervisor_pid.set(999);
    for (std::size_t id = 0; id < static_cast<std::size_t>(replicas); ++id) {
      pages_.push_back(std::make_unique<ReplicaPage>());
      set_state(id, ProcessState::kUp);
      daemon.replicas[id].pid.set(1000 + id);
      set_incarnation(id, 1);
    }
    view_.daemon = &daemon;
    for (const auto& page : pages_) view_.replicas.push_back(page.get());
  }

  ReplicaPage& operator[](std::size_t id) { return *pages_[id]; }
  const InstanceView& view() const { return view_; }

  void set_state(std::size_t id, ProcessState state) {
    daemon.replicas[id].state.set(static_cast<std::uint64_t>(state));
  }
  void set_role(std::size_t id, Role role) {
    (*pages_[id])[ReplicaCounter::kRole].set(static_cast<std::uint64_t>(role));
  }
  // Sets the incarnation of the process and of its page.
  void set_incarnation(std::size_t id, std::uint64_t incarnation) {
    daemon.replicas[id].incarnation.set(incarnation);
    pages_[id]->incarnation.set_release(incarnation);
  }
  void set_progress(std::size_t id, std::uint64_t proposed, std::uint64_t decided, std::uint64_t applied) {
    (*pages_[id])[ReplicaCounter::kProposedSlots].set(proposed);
    (*pages_[id])[ReplicaCounter::kDecidedSlots].set(decided);
    (*pages_[id])[ReplicaCounter::kAppliedSlots].set(applied);
  }

  DaemonConfig config;
  DaemonPage daemon;

 private:
  std::vector<std::unique_ptr<ReplicaPage>> pages_;
  InstanceView view_;
};

}  // namespace ingot
