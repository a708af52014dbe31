#include "tests/transport/contract_party.h"

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "core/check.h"
#include "core/enum_names.h"
#include "tests/transport/message_pattern.h"
#include "transport/host/fence.h"

namespace ingot::test {

void Board::fail(const std::string& why) {
  if (failed.load()) return;
  std::strncpy(what.data(), why.c_str(), what.size() - 1);
  failed.store(true);
  stop.store(true);
}

void BoardUnmapper::operator()(Board* board) const { ::munmap(board, sizeof(Board)); }

std::unique_ptr<Board, BoardUnmapper> make_board() {
  void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  INGOT_CHECK(memory != MAP_FAILED);
  return std::unique_ptr<Board, BoardUnmapper>(new (memory) Board());
}

std::vector<std::span<std::byte>> inboxes_of(const Fabric& fabric) {
  std::vector<std::span<std::byte>> inboxes;
  for (std::uint16_t i = 0; i < fabric.endpoints(); ++i) inboxes.push_back(fabric.inbox(EndpointId(i)));
  return inboxes;
}

Fabric make_fabric(const PartyPlan& plan) {
  auto fabric =
      Fabric::create("contract", plan.endpoints, inbox_bytes(*value_of<TransportKind>(plan.kind), plan.endpoints));
  INGOT_CHECK(fabric.ok());
  return std::move(*fabric);
}

Party::Party(const PartyPlan& plan, Fabric& fabric, EndpointId self, Board& board)
    : plan_(plan),
      fabric_(fabric),
      self_(self),
      board_(board),
      transport_(make_transport(*value_of<TransportKind>(plan.kind), inboxes_of(fabric), self, fabric, {})),
      prng_(plan.seed * 64 + self.value()) {}

std::size_t Party::bytes_of(EndpointId from, EndpointId to, std::uint32_t n) const {
  Prng prng(plan_.seed * 1000003 + static_cast<std::uint64_t>(from.value() * 64 + to.value()) * 65536 + n);
  // Half of the messages fit on a line, whatever the maximum.
  return 1 + prng.below(prng.chance(0.5) ? std::min<std::size_t>(plan_.bytes_max, 56) : plan_.bytes_max);
}

bool Party::send_next(EndpointId to) {
  std::uint32_t& n = accepted_[to.value()];
  const auto message = make_message(self_, to, n, bytes_of(self_, to, n));
  // Counted before the send, so that the receiver can detect a message that was never sent.
  board_.accepted[self_.value()][to.value()].store(n + 1);
  const std::size_t header = prng_.below(message.size() + 1);
  const std::span<const std::byte> whole(message);
  const GatheredMessage pieces(whole.first(header), whole.subspan(header));
  if (prng_.chance(0.5) ? transport_->send(to, whole) : transport_->send_gathered(to, pieces)) {
    ++n;
    return true;
  }
  board_.accepted[self_.value()][to.value()].store(n);
  return false;
}

int Party::receive(int limit) {
  const int count = transport_->probe(
      [&](EndpointId from, std::span<const std::byte> message) {
        std::uint32_t& n = received_[from.value()];
        if (n >= board_.accepted[from.value()][self_.value()].load())
          board_.fail("a message arrived that was not sent");
        const std::string wrong = check_message(message, from, self_, n, bytes_of(from, self_, n));
        if (!wrong.empty()) board_.fail("seed " + std::to_string(plan_.seed) + ": " + wrong);
        board_.received[from.value()][self_.value()].store(++n);
      },
      limit);
  if (count > limit) board_.fail("probe handed out more than its limit");
  return count;
}

bool Party::round() {
  bool busy = false;
  for (std::uint16_t i = 0; i < plan_.endpoints; ++i) {
    const EndpointId to(i);
    if (to == self_) continue;
    for (auto burst = prng_.below(6); burst > 0 && accepted_[i] < plan_.messages; --burst) busy |= send_next(to);
  }
  busy |= receive(1 + static_cast<int>(prng_.below(100))) > 0;
  // Of the messages accepted for one endpoint, at most the last one has waiting fragments.
  const bool waiting = transport_->flush();
  for (std::uint16_t i = 0; i < plan_.endpoints; ++i) {
    if (accepted_[i] > 0) board_.complete[self_.value()][i].store(accepted_[i] - (waiting ? 1 : 0));
  }
  return busy;
}

bool Party::is_absent(int endpoint) const {
  return std::find(absent_.begin(), absent_.end(), endpoint) != absent_.end();
}

bool Party::finished() const {
  if (!absent_.empty() && !board_.fault_happened.load()) return false;
  for (int i = 0; i < plan_.endpoints; ++i) {
    if (i == self_.value()) continue;
    const bool all_sent = is_absent(i) || board_.received[self_.value()][i].load() >= plan_.messages;
    const std::uint32_t due = is_absent(i) ? board_.complete[i][self_.value()].load() : plan_.messages;
    if (!all_sent || received_[i] < due) return false;
  }
  return true;
}

void Party::run(const std::vector<int>& absent) {
  absent_ = absent;
  while (!board_.stop.load() && !finished()) {
    if (!round()) wait();
  }
}

// As the event loop waits: announce, fence, check once more, sleep. But only for messages that are certain to come.
void Party::wait() {
  bool may_sleep = plan_.sleeps, expects = false;
  for (int i = 0; i < plan_.endpoints; ++i) {
    if (i == self_.value() || is_absent(i)) continue;
    may_sleep = may_sleep && accepted_[i] == plan_.messages;
    expects = expects || received_[i] < plan_.messages;
  }
  if (!may_sleep || !expects || transport_->flush()) {
    ::sched_yield();
    return;
  }
  SleepingWord& word = fabric_.sleeping(self_);
  word.raise();
  store_load_fence();
  if (!transport_->readable()) {
    pollfd bell{fabric_.bell(self_).fd(), POLLIN, 0};
    ::poll(&bell, 1, -1);
  }
  word.lower();
  fabric_.bell(self_).drain();
}

}  // namespace ingot::test
