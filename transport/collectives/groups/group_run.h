// One member's part of a group operation: combines its own result and those of its subtrees in the group's order once
// all have come. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/check.h"
#include "core/wire.h"
#include "transport/collectives/groups/method_table.h"
#include "transport/collectives/groups/object_group.h"

namespace ingot::inline transport_collectives_groups {

class GroupRun {
 public:
  using Done = std::function<void(const absl::StatusOr<std::string>& result)>;

  // `combiner`: for kReduce.
  GroupRun(GroupOperation operation, const MethodTable::Entry* combiner, Done done)
      : operation_(operation), combiner_(combiner), done_(std::move(done)) {}

  // This member's own part is number 0.
  void expect(std::size_t parts) {
    parts_.resize(parts, std::string());
    missing_ = parts;
  }

  void own_done(absl::StatusOr<std::string> result) {
    if (result.ok() && operation_ == GroupOperation::kGather) result = WireWriter().bytes(*result).take();
    store(0, std::move(result));
  }
  void part_done(std::size_t part, absl::StatusOr<std::string_view> result) {
    if (result.ok()) {
      store(part, std::string(*result));
    } else {
      store(part, result.status());
    }
  }

 private:
  void store(std::size_t part, absl::StatusOr<std::string> result) {
    INGOT_CHECK(part < parts_.size() && missing_ > 0);
    parts_[part] = std::move(result);
    if (--missing_ == 0) done_(put_together());
  }

  absl::StatusOr<std::string> put_together() {
    for (const auto& part : parts_) {
      if (!part.ok()) return part.status();
    }
    absl::StatusOr<std::string> all = operation_ == GroupOperation::kMap ? std::string() : std::move(parts_[0]);
    for (std::size_t i = 1; i < parts_.size() && operation_ != GroupOperation::kMap && all.ok(); ++i) {
      if (operation_ == GroupOperation::kGather) {
        all->append(*parts_[i]);
      } else {
        all = combiner_->combine(*all, *parts_[i]);
      }
    }
    return all;
  }

  const GroupOperation operation_;
  const MethodTable::Entry* const combiner_;
  const Done done_;
  std::vector<absl::StatusOr<std::string>> parts_;
  std::size_t missing_ = 0;
};

}  // namespace ingot::transport_collectives_groups
