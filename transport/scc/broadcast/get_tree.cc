#include "transport/scc/broadcast/get_tree.h"

#include <algorithm>

namespace ingot::scc::inline transport_scc_broadcast {
namespace {

constexpr MpbFlag kNotify{kGetBuffers * kGetChunkLines};
constexpr MpbFlag done_flag(int position) { return {kNotify.line + 1 + static_cast<std::size_t>(position)}; }
constexpr std::size_t kPushedLine = done_flag(kTreeChildrenMax).line;
static_assert(kPushedLine + kGetBuffers <= kGoryLines);

struct PushedLine {
  std::uint32_t chunk = 0;
  std::byte payload[kPushBytes] = {};
};
static_assert(sizeof(PushedLine) == kLineBytes);

constexpr std::size_t buffer_line(std::uint32_t chunk) { return chunk % kGetBuffers * kGetChunkLines; }

}  // namespace

int GetTree::kind_of(std::size_t) const { return 0; }

void GetTree::run(const Message& message) {
  change_tree(message.source, kind_of(message.bytes));
  if (push_ && message.bytes <= kPushBytes) return push(message);
  for (std::size_t done = 0; done < message.bytes; done += kGetChunkBytes) {
    const std::size_t bytes = std::min(kGetChunkBytes, message.bytes - done);
    const Address at = message.at + static_cast<Address>(done);
    ++chunk_;
    if (place_->parent < 0) {
      send_chunk(at, bytes);
    } else {
      receive_chunk(at, bytes);
    }
  }
  if (place_->parent >= 0) delivered();
}

void GetTree::change_tree(int source, int kind) {
  const auto [found, inserted] = places_.try_emplace({source, kind});
  if (inserted) found->second = place_in(make_tree(source, kind), group_, core_.id());
  if (place_ == &found->second) return;
  if (place_ != nullptr) barrier(core_, group_);  // every core has written its last done flag
  place_ = &found->second;
  first_chunk_ = chunk_ + 1;
}

void GetTree::send_chunk(Address from, std::size_t bytes) {
  await_buffer();
  put(core_, core_.id(), buffer_line(chunk_), from, bytes);
  notify_children();
}

void GetTree::receive_chunk(Address to, std::size_t bytes) {
  wait_flag_reached(core_, kNotify, chunk_, "a notification");
  notify_siblings();
  await_buffer();
  get_to_mpb(core_, buffer_line(chunk_), place_->parent, buffer_line(chunk_), bytes);
  write_flag(core_, done_flag(place_->position), chunk_, place_->parent);
  notify_children();
  get(core_, to, core_.id(), buffer_line(chunk_), bytes);
}

void GetTree::push(const Message& message) {
  ++chunk_;
  const std::size_t line_number = kPushedLine + chunk_ % kGetBuffers;
  PushedLine line;
  if (place_->parent < 0) {
    line.chunk = chunk_;
    core_.charge(core_.costs().put_memory_call);
    core_.read(message.at, std::span(line.payload).first(message.bytes));
  } else {
    const std::uint32_t chunk = chunk_;
    line = core_.wait_value<PushedLine>(
        mpb_line(core_.id(), line_number),
        [chunk](const PushedLine& seen) { return static_cast<std::int32_t>(seen.chunk - chunk) >= 0; },
        "a pushed line");
  }
  await_buffer();
  for (const int child : place_->children) {
    core_.charge(core_.costs().put_mpb_call);
    core_.store(mpb_line(child, line_number), line);
    core_.flush_wcb();
  }
  if (place_->parent < 0) return;
  core_.charge(core_.costs().get_memory_call);  // the line stays in L1 until the done flag is written
  core_.copy(message.at, mpb_line(core_.id(), line_number) + sizeof(line.chunk), message.bytes);
  delivered();
  write_flag(core_, done_flag(place_->position), chunk_, place_->parent);
}

// Node 0 of the notification tree is the parent, node i + 1 its i-th child; node j notifies 2j + 1 and 2j + 2.
void GetTree::notify_siblings() {
  if (notify_ == Notify::kParent) return;
  const std::size_t node = static_cast<std::size_t>(place_->position) + 1;
  for (std::size_t next = 2 * node + 1; next <= 2 * node + 2 && next <= place_->siblings.size(); ++next) {
    write_flag(core_, kNotify, chunk_, place_->siblings[next - 1]);
  }
}

void GetTree::notify_children() {
  const std::size_t all = place_->children.size();
  const std::size_t count = notify_ == Notify::kParent ? all : std::min<std::size_t>(all, 2);
  for (std::size_t i = 0; i < count; ++i) write_flag(core_, kNotify, chunk_, place_->children[i]);
}

// Waits until no child needs the former chunk in this chunk's buffer.
void GetTree::await_buffer() {
  if (chunk_ - first_chunk_ < kGetBuffers) return;
  for (std::size_t i = 0; i < place_->children.size(); ++i) {
    wait_flag_reached(core_, done_flag(static_cast<int>(i)), chunk_ - kGetBuffers, "a done flag");
  }
}

}  // namespace ingot::scc::transport_scc_broadcast
