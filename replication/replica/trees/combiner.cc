#include "replication/replica/trees/combiner.h"

#include <algorithm>
#include <utility>

#include "core/wire.h"
#include "replication/agreement/agreement.h"
#include "replication/replica/trees/limits.h"

namespace ingot::inline replication_replica_trees {

void AnswerCombiner::answer(EndpointId root, std::string_view message, Send send) {
  add(root.value(), table_.version(), ReplicaSet::of(self_), message, send);
}

bool AnswerCombiner::receive(std::string_view bytes, Send send, Deliver deliver) {
  WireReader in(bytes.substr(1));  // the class is checked already
  const int root = in.u8();
  const bool zero = in.u16() == 0;
  const std::uint32_t version = in.u32();
  const auto who = ReplicaSet::from_bits(in.u64());
  const std::string_view answer = in.rest();
  const int replicas = table_.replicas();
  const bool known = ReplicaSet::first(replicas).contains_all(who);
  if (in.failed() || !zero || answer.empty() || root >= replicas || who.empty() || !known || who.contains(root)) {
    return false;
  }
  if (root != self_) {
    add(root, version, who, answer, send);
    return true;
  }
  for (const EndpointId each : who) deliver(each, answer);
  return true;
}

void AnswerCombiner::add(int root, std::uint32_t version, ReplicaSet who, std::string_view answer, Send send) {
  const RootedTree* tree = table_.find(version, root);
  const ReplicaSet all = tree != nullptr ? tree->subtree[self_] : ReplicaSet();
  if (tree == nullptr || who.contains_all(all) || !all.contains_all(who))
    return pass_on(root, version, who, answer, send);
  const auto same = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.root == root && waiting.version == version && waiting.answer == answer;
  });
  if (same != waiting_.end()) {
    same->who |= who;
    if (same->who != all) return;
    pass_on(root, version, same->who, answer, send);
    waiting_.erase(same);
    return;
  }
  if (waiting_.size() >= kCombinedAnswersMax) {
    const Waiting& oldest = waiting_.front();
    pass_on(oldest.root, oldest.version, oldest.who, oldest.answer, send);
    waiting_.pop_front();
  }
  waiting_.push_back({root, version, who, 0, std::string(answer)});
}

void AnswerCombiner::pass_on(int root, std::uint32_t version, ReplicaSet who, std::string_view answer,
                             Send send) const {
  const RootedTree* tree = table_.find(version, root);
  const int to = tree != nullptr ? tree->parent[self_] : root;
  const auto destination = EndpointId(static_cast<std::uint16_t>(to));
  if (to == root && who == ReplicaSet::of(self_)) return send(destination, answer);  // nothing was combined
  WireWriter out(kCombinedHeaderBytes + answer.size());
  out.u8(static_cast<std::uint8_t>(MessageClass::kCombined)).u8(static_cast<std::uint8_t>(root)).u16(0);
  out.u32(version).u64(who.bits()).raw(answer);
  send(destination, out.view());
}

void AnswerCombiner::tick(Send send) {
  while (!waiting_.empty() && waiting_.front().ticks >= kCombineTicks) {
    const Waiting oldest = std::move(waiting_.front());
    waiting_.pop_front();
    pass_on(oldest.root, oldest.version, oldest.who, oldest.answer, send);
  }
  for (Waiting& waiting : waiting_) ++waiting.ticks;
}

}  // namespace ingot::replication_replica_trees
