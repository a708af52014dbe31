#include "replication/agreement/reads.h"

#include <utility>

#include "core/check.h"
#include "replication/agreement/limits.h"

namespace ingot::inline replication_agreement {

void ReadProbes::add(std::uint64_t read_id, EndpointId leader, Effects& effects) {
  if (served_.size() + waiting_.size() < kPendingReadsMax) {
    waiting_.push_back(read_id);
    return;
  }
  effects.rejected.push_back({Rejection::Kind::kRead, Rejection::Why::kBusy, read_id, leader});
}

std::uint64_t ReadProbes::start(Slot read_index) {
  INGOT_CHECK(wants_probe());
  std::swap(served_, waiting_);
  read_index_ = read_index;
  votes.clear();
  return ++number_;
}

void ReadProbes::confirm(Effects& effects) {
  for (const std::uint64_t read_id : served_) effects.reads_ready.push_back({read_id, read_index_});
  served_.clear();
}

void ReadProbes::reject_all(EndpointId leader, Effects& effects) {
  for (auto* reads : {&served_, &waiting_}) {
    for (const std::uint64_t read_id : *reads) {
      effects.rejected.push_back({Rejection::Kind::kRead, Rejection::Why::kNotLeader, read_id, leader});
    }
    reads->clear();
  }
}

}  // namespace ingot::replication_agreement
