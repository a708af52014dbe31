// A replica's state as bytes:
//
//   snapshot  u64 magic  u64 applied  u64 n  n bytes of sessions  u64 checksum  the rest: state machine
//
// The checksum is the stable hash of everything before it; the store checks its own part, and a file's checksum
// (replication/replica/snapshots/format.h) is of all of it. The last character of the magic is the format's version.
#include "replication/replica/applier.h"

#include <optional>
#include <utility>

#include "core/check.h"
#include "core/stable_hash.h"
#include "core/wire.h"
#include "replication/replica/limits.h"
#include "replication/requests/snapshot_wish.h"

namespace ingot::inline replication_replica {
namespace {

constexpr std::uint64_t kMagic = 0x33'50'50'41'54'47'4e'49;  // "INGTAPP3"

absl::Status refused(const char* why) {
  return absl::InvalidArgumentError(std::string("the bytes are not a snapshot of a replica: ") + why);
}

}  // namespace

void Applier::apply(Slot slot, std::string_view batch, absl::FunctionRef<void(const Applied&)> each) {
  StepBudget steps;
  apply_some(slot, batch, steps, each);
}

bool Applier::apply_some(Slot slot, std::string_view batch, StepBudget& steps,
                         absl::FunctionRef<void(const Applied&)> each) {
  INGOT_CHECK(slot == applied_, "slots are applied in order, each once");
  if (!under_way_) begin(batch);
  for (; next_ < commands_.size(); ++next_) {
    if (steps.spent() || !apply_command(slot, commands_[next_], steps, each)) return false;
  }
  commands_.clear();
  under_way_ = false;
  applied_ = slot.next();
  return true;
}

void Applier::begin(std::string_view batch) {
  digest_before_ = whole_digest();
  under_way_ = true;
  next_ = 0;
  if (auto commands = decode_batch(batch)) commands_ = *std::move(commands);
  else ++malformed_batches_;
  if (commands_.size() < 2) return;
  for (const Request& command : commands_) machine_.expect(command.payload);
}

// False: the steps are spent, and it is to be applied further.
bool Applier::apply_command(Slot slot, const Request& command, StepBudget& steps,
                            absl::FunctionRef<void(const Applied&)> each) {
  using Status = Response::Status;
  if (carrying_out_) return carry_out(slot, command, steps, each);
  steps.take(1 + static_cast<std::int64_t>(command.payload.size()) / kStepBytes);
  const Sessions::Answer known = sessions_.begin(command.client, command.sequence, command.acknowledged_below);
  switch (known.verdict) {
    case Sessions::Verdict::kApply:
      ++applied_commands_;
      carrying_out_ = true;
      return carry_out(slot, command, steps, each);
    case Sessions::Verdict::kDuplicate:
      ++duplicate_commands_;
      each({command, Status::kOk, known.result});
      return true;
    case Sessions::Verdict::kResultGone:
    case Sessions::Verdict::kStale:
      ++duplicate_commands_;
      each({command, Status::kResultGone, {}});
      return true;
    case Sessions::Verdict::kOutsideWindow:
      ++refused_commands_;
      each({command, Status::kBusy, {}});
      return true;
  }
  return true;
}

bool Applier::carry_out(Slot slot, const Request& command, StepBudget& steps,
                        absl::FunctionRef<void(const Applied&)> each) {
  std::optional<std::string> result = is_snapshot_wish(command.payload)
                                          ? std::string()
                                          : machine_.apply_some(slot, command.payload, steps);
  if (!result) return false;
  carrying_out_ = false;
  each({command, Response::Status::kOk, *result, true});
  sessions_.record(command.client, command.sequence, *std::move(result));
  return true;
}

std::uint64_t Applier::whole_digest() const {
  return mix(mix(machine_.digest(), sessions_.digest()), applied_.value());
}

std::string Applier::save() const {
  std::string out;
  save([&](std::string_view part) { out.append(part); });
  return out;
}

std::string Applier::head(Slot applied, const Sessions& sessions) {
  WireWriter bytes;
  sessions.save(bytes);
  WireWriter first(48 + bytes.size());
  first.u64(kMagic).u64(applied.value());
  first.u64(bytes.size()).raw(bytes.view());
  first.u64(hash_bytes(first.view()));
  return first.take();
}

void Applier::save(StateMachine::Sink sink) const {
  INGOT_CHECK(!under_way_, "a snapshot is of whole slots");
  sink(head(applied_, sessions_));
  machine_.save(sink);
}

std::uint64_t Applier::head_bytes(std::string_view first) {
  WireReader in(first);
  const bool known = in.u64() == kMagic;
  in.u64();
  const std::uint64_t sessions = in.u64();
  return in.failed() || !known ? 0 : kHeadStartBytes + sessions + sizeof(std::uint64_t);
}

absl::StatusOr<Applier::Decoded> Applier::decode(std::string_view snapshot) {
  WireReader in(snapshot);
  if (in.u64() != kMagic) return refused(in.failed() ? "it is cut short" : "the format is unknown");
  const Slot applied(in.u64());
  const std::string_view sessions_bytes = in.raw(in.u64());
  const std::string_view first = snapshot.substr(0, snapshot.size() - in.remaining());
  const std::uint64_t checksum = in.u64();
  const std::string_view machine = in.rest();
  if (in.failed()) return refused("it is cut short");
  if (checksum != hash_bytes(first)) return refused("the checksum is wrong");
  WireReader sessions_in(sessions_bytes);
  Sessions sessions = Sessions::load(sessions_in, {});
  if (!sessions_in.ok()) return refused("its sessions are malformed");
  absl::StatusOr<StateMachine::Load> load = machine_.decode(machine);
  if (!load.ok()) return load.status();
  return Decoded{applied, [this, applied, sessions = std::move(sessions), load = *std::move(load)]() mutable {
                   INGOT_CHECK(!under_way_, "a snapshot comes between two slots");
                   std::move(load)();
                   std::swap(sessions_, sessions);  // the former sessions are destroyed with this lambda
                   applied_ = applied;
                 }};
}

absl::Status Applier::load(std::string_view snapshot) {
  auto decoded = decode(snapshot);
  if (decoded.ok()) std::move(decoded->load)();
  return decoded.status();
}

}  // namespace ingot::replication_replica
