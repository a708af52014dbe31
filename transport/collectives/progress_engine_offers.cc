// The engine's part in copies from memory to memory: taking offers, answering them, and hearing the answers.
#include <cstring>

#include "transport/collectives/progress_engine.h"

namespace ingot::inline transport_collectives {

void ProgressEngine::deliver_offer(Schedule& schedule, EndpointId from, ScheduleHeader header,
                                   std::span<const std::byte> payload) {
  PayloadOffer offer;
  std::memcpy(&offer, payload.data(), sizeof offer);
  Schedule::Node* node = expected(schedule, from, header.tag, offer.bytes);
  if (node == nullptr) return answer(from, header, ScheduleClass::kTaken);  // the run has failed; its sender goes on
  const CopyResult result =
      one_copy_.by != nullptr ? one_copy_.by->copy(from, offer, node->target) : CopyResult::kImpossible;
  if (result != CopyResult::kCopied) {
    const bool again = result == CopyResult::kWithdrawn;
    return answer(from, header, again ? ScheduleClass::kWithdrawn : ScheduleClass::kRefused);
  }
  ++counters_.copied;
  node->blockers_left = 1;  // it has its message
  header.message_class = ScheduleClass::kTaken;
  const std::uint64_t taken = header.encode();
  // The run does not end before its answers have left, as it does not before its messages have.
  if (blocked_[from.value()].empty() && transport_.send(from, std::as_bytes(std::span(&taken, 1)))) {
    complete(schedule, *node);
  } else {
    block(from, {&schedule, static_cast<std::uint32_t>(node - schedule.nodes_.data()), taken});
  }
}

void ProgressEngine::answer(EndpointId to, ScheduleHeader header, ScheduleClass answer_class) {
  if (gone_[to.value()]) return;
  header.message_class = answer_class;
  const std::uint64_t word = header.encode();
  if (blocked_[to.value()].empty() && transport_.send(to, std::as_bytes(std::span(&word, 1)))) return;
  block(to, {nullptr, 0, word});
}

void ProgressEngine::receive_answer(EngineGroup& group, EndpointId from, const ScheduleHeader& header) {
  Schedule* schedule = group.running(header.sequence);
  Schedule::Node* node = nullptr;
  if (schedule != nullptr && schedule->sequence_ == header.sequence) {
    node = Schedule::find(schedule->nodes_, schedule->sends_, from, header.tag);
  }
  if (node == nullptr || node->blockers_left != Schedule::kOffered) {
    ++counters_.stray;  // of a run that was withdrawn, or has failed
    return;
  }
  note_started(group, from, header.sequence.next());
  node->blockers_left = 0;
  --schedule->offers_left_;
  if (header.message_class == ScheduleClass::kTaken) return complete(*schedule, *node);
  if (header.message_class == ScheduleClass::kRefused) {
    refuses_[from.value()] = true;
    ++counters_.offers_refused;
  } else {
    ++counters_.offers_withdrawn;
  }
  ready_.push_back({schedule, static_cast<std::uint32_t>(node - schedule->nodes_.data())});
}

}  // namespace ingot::transport_collectives
