// Pointers to objects of any endpoint, and groups of them: plain values, which can be copied and sent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/types.h"
#include "core/wire.h"
#include "transport/collectives/groups/group_limits.h"

namespace ingot::inline transport_collectives_groups {

struct AnyPointer {
  EndpointId endpoint{};
  std::uint32_t object = 0;
  bool operator==(const AnyPointer&) const = default;
};

// Points to an object that its endpoint published as a T.
template <typename T>
struct GlobalPointer : AnyPointer {};

// Results come in the order of the members. Const use is safe from any thread.
template <typename T>
class ObjectGroup {
 public:
  // Errors: INVALID_ARGUMENT: no members, or more than kGroupMembersMax.
  static absl::StatusOr<ObjectGroup> create(const std::vector<GlobalPointer<T>>& members) {
    if (members.empty() || members.size() > kGroupMembersMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("a group of ", members.size(), " members: 1 to ", kGroupMembersMax, " are possible"));
    }
    return ObjectGroup({members.begin(), members.end()});
  }

  const std::vector<AnyPointer>& members() const { return members_; }
  std::size_t size() const { return members_.size(); }

 private:
  explicit ObjectGroup(std::vector<AnyPointer> members) : members_(std::move(members)) {}

  std::vector<AnyPointer> members_;
};

enum class GroupOperation : std::uint8_t { kMap, kGather, kReduce };

// A group operation on its way down the tree. The members are those of the receiver's subtree, itself first.
//
//   u8 operation, u32 method, u32 combiner, u32 members, each: u16 endpoint, u32 object; then the arguments
struct GroupCall {
  GroupOperation operation = GroupOperation::kMap;
  std::uint32_t method = 0;
  std::uint32_t combiner = 0;
  std::vector<AnyPointer> members;
  std::string_view arguments;

  // Encodes members [first, end).
  std::string encode(std::size_t first, std::size_t end) const;
  // False: not the bytes of a GroupCall.
  static bool decode(std::string_view body, GroupCall& call);
};

}  // namespace ingot::transport_collectives_groups
