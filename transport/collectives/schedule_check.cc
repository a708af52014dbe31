// Whether the schedules of a group's members fit together.
#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "transport/collectives/schedule.h"

namespace ingot::inline transport_collectives {

// Reads schedules' private parts without changing them.
class ScheduleReader {
 public:
  explicit ScheduleReader(std::span<const Schedule* const> schedules) : schedules_(schedules) {}

  absl::Status check() {
    for (std::size_t i = 0; i < schedules_.size(); ++i) {
      if (!index_.emplace(schedules_[i]->self(), i).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("endpoint ", schedules_[i]->self().value(), " has two schedules of one operation"));
      }
    }
    if (auto status = check_sends(); !status.ok()) return status;
    if (auto status = check_receives(); !status.ok()) return status;
    return run();
  }

 private:
  using Kind = Schedule::Kind;
  using Node = Schedule::Node;

  // The receive of the message with that tag, or null.
  const Node* receive_of(const Schedule& schedule, EndpointId from, std::uint16_t tag) const {
    return Schedule::find(schedule.nodes_, schedule.receives_, from, tag);
  }

  absl::Status check_sends() {
    for (const Schedule* schedule : schedules_) {
      for (const Node& node : schedule->nodes_) {
        if (node.kind != Kind::kSend) continue;
        const auto receiver = index_.find(node.peer);
        if (receiver == index_.end()) return unmatched(*schedule, node, "who has no schedule");
        const Node* receive = receive_of(*schedules_[receiver->second], schedule->self(), node.tag);
        if (receive == nullptr) return unmatched(*schedule, node, "who does not receive it");
        if (receive->target.size() != node.source.size()) {
          return unmatched(*schedule, node, absl::StrCat("who expects ", receive->target.size(), " bytes"));
        }
        ++matched_;
      }
    }
    return absl::OkStatus();
  }

  static absl::Status unmatched(const Schedule& schedule, const Node& send, const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat("endpoint ", schedule.self().value(), " sends ", send.source.size(),
                                                   " bytes with tag ", send.tag, " to endpoint ", send.peer.value(),
                                                   ", ", why));
  }

  // Each send has its own receive, since tags are unique; so it is enough to count.
  absl::Status check_receives() const {
    std::size_t receives = 0;
    for (const Schedule* schedule : schedules_) receives += schedule->receives_.size();
    if (receives == matched_) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(receives - matched_, " receives of the operation have no send"));
  }

  // Runs the whole operation without payload. Nodes that never run wait for each other.
  absl::Status run() {
    std::size_t left = 0;
    for (std::size_t i = 0; i < schedules_.size(); ++i) {
      std::vector<std::uint32_t> blockers;
      for (const Node& node : schedules_[i]->nodes_) blockers.push_back(node.blockers);
      left += blockers.size();
      for (const std::uint32_t node : schedules_[i]->first_) open_.emplace_back(i, node);
      blockers_.push_back(std::move(blockers));
    }
    for (; !open_.empty(); --left) {
      const auto [at, index] = open_.back();
      open_.pop_back();
      finish(at, index);
    }
    if (left == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the operation never ends: ", left, " nodes of its schedules wait for one another"));
  }

  void finish(std::size_t at, std::uint32_t index) {
    const Schedule& schedule = *schedules_[at];
    const Node& node = schedule.nodes_[index];
    for (std::uint32_t i = node.successors_begin; i < node.successors_end; ++i) {
      if (--blockers_[at][schedule.successors_[i]] == 0) open_.emplace_back(at, schedule.successors_[i]);
    }
    if (node.kind != Kind::kSend) return;
    const std::size_t to = index_.at(node.peer);
    const Node* receive = receive_of(*schedules_[to], schedule.self(), node.tag);
    open_.emplace_back(to, static_cast<std::uint32_t>(receive - schedules_[to]->nodes_.data()));
  }

  std::span<const Schedule* const> schedules_;
  std::map<EndpointId, std::size_t> index_;
  std::size_t matched_ = 0;
  std::vector<std::vector<std::uint32_t>> blockers_;
  std::vector<std::pair<std::size_t, std::uint32_t>> open_;
};

absl::Status check_fit(std::span<const Schedule* const> schedules) { return ScheduleReader(schedules).check(); }

}  // namespace ingot::transport_collectives
