#include "transport/collectives/groups/active_messages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "transport/collectives/groups/group_run.h"

namespace ingot::inline transport_collectives_groups {

ActiveMessages::ActiveMessages(Transport& transport, int endpoints, const MethodTable& table)
    : table_(table),
      requests_(transport, endpoints, [this](std::uint8_t kind, Requests::Caller caller, std::string_view body) {
        serve(kind, caller, body);
      }) {}

absl::StatusOr<std::uint32_t> ActiveMessages::publish_any(void* object, std::type_index type) {
  if (objects_.size() >= kObjectsMax) {
    return absl::ResourceExhaustedError(absl::StrCat("an endpoint can publish ", kObjectsMax, " objects"));
  }
  objects_.push_back({object, type});
  return static_cast<std::uint32_t>(objects_.size() - 1);
}

void ActiveMessages::withdraw(AnyPointer object) {
  INGOT_CHECK(object.endpoint == self() && object.object < objects_.size(), "only an own object can be withdrawn");
  objects_[object.object].object = nullptr;
}

absl::Status ActiveMessages::call_any(AnyPointer object, std::uint32_t method, std::string_view arguments,
                                      Requests::Done done) {
  WireWriter body;
  body.u32(object.object).u32(method).raw(arguments);
  return requests_.request(object.endpoint, static_cast<std::uint8_t>(Kind::kCall), body.view(), std::move(done));
}

absl::Status ActiveMessages::call_group(GroupOperation operation, std::vector<AnyPointer> members, std::uint32_t method,
                                        std::uint32_t combiner, std::string_view arguments, Requests::Done done) {
  const GroupCall call{operation, method, combiner, std::move(members), arguments};
  return requests_.request(call.members.front().endpoint, static_cast<std::uint8_t>(Kind::kGroup),
                           call.encode(0, call.members.size()), std::move(done));
}

void ActiveMessages::serve(std::uint8_t kind, Requests::Caller caller, std::string_view body) {
  switch (static_cast<Kind>(kind)) {
    case Kind::kCall: {
      WireReader in(body);
      const std::uint32_t object = in.u32(), method = in.u32();
      if (in.failed()) return requests_.answer(caller, absl::InvalidArgumentError("a call that is cut short"));
      return requests_.answer(caller, invoke(object, method, in.rest()));
    }
    case Kind::kGroup:
      return serve_group(caller, body);
  }
  requests_.answer(caller, absl::InvalidArgumentError(absl::StrCat("there is no request of kind ", kind)));
}

absl::StatusOr<std::string> ActiveMessages::invoke(std::uint32_t object, std::uint32_t method,
                                                   std::string_view arguments) {
  if (object >= objects_.size() || objects_[object].object == nullptr) {
    return absl::NotFoundError(absl::StrCat("endpoint ", self().value(), " has no object ", object));
  }
  const MethodTable::Entry* entry = table_.find(method);
  if (entry == nullptr || entry->invoke == nullptr) {
    return absl::NotFoundError(absl::StrCat("the table of endpoint ", self().value(), " has no such method"));
  }
  if (entry->type != objects_[object].type) {
    return absl::InvalidArgumentError(absl::StrCat("object ", object, " of endpoint ", self().value(),
                                                   " is of another type than ", entry->name, " is for"));
  }
  return entry->invoke(objects_[object].object, arguments);
}

void ActiveMessages::serve_group(Requests::Caller caller, std::string_view body) {
  GroupCall call;
  if (!GroupCall::decode(body, call) || call.members.front().endpoint != self()) {
    return requests_.answer(caller, absl::InvalidArgumentError("a group operation that is none"));
  }
  const MethodTable::Entry* combiner = table_.find(call.combiner);
  if (call.operation == GroupOperation::kReduce && (combiner == nullptr || combiner->combine == nullptr)) {
    return requests_.answer(
        caller, absl::NotFoundError(absl::StrCat("the table of endpoint ", self().value(), " has no such combiner")));
  }
  // Binomial: the rear half goes to its first member, then the rear half of the rest, and so on.
  const auto run = std::make_shared<GroupRun>(call.operation, combiner, [this, caller](const auto& result) {
    requests_.answer(caller, result);
  });
  std::vector<std::size_t> heads;
  for (std::size_t end = call.members.size(); end > 1; end = heads.back()) heads.push_back((end + 1) / 2);
  run->expect(heads.size() + 1);
  std::size_t end = call.members.size();
  for (std::size_t i = 0; i < heads.size(); end = heads[i++]) {
    const std::size_t part = heads.size() - i;  // this member's own is part 0, the nearest is part 1
    const absl::Status status = requests_.request(
        call.members[heads[i]].endpoint, static_cast<std::uint8_t>(Kind::kGroup), call.encode(heads[i], end),
        [run, part](absl::StatusOr<std::string_view> result) { run->part_done(part, std::move(result)); });
    if (!status.ok()) run->part_done(part, status);
  }
  run->own_done(invoke(call.members.front().object, call.method, call.arguments));
}

int ActiveMessages::poll(std::uint64_t now_ns) {
  const int work = requests_.poll();
  retry_at_ns_ = requests_.unsent() ? now_ns + kRetryNs : kNever;
  return work;
}

}  // namespace ingot::transport_collectives_groups
