#include "client/openmp/shape.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace ingot::openmp {

Shape::Shape(Tree tree, const ThreadWaitOptions& options, std::uint64_t from_phase, Shape* replaced)
    : tree_(std::move(tree)),
      options_(options),
      from_phase_(from_phase),
      replaced_(replaced),
      words_(static_cast<std::size_t>(tree_.size()), options.sleepers_fence),
      seats_(static_cast<std::size_t>(tree_.size())) {
  std::size_t children_max = 0;
  for (const auto& children : tree_.children) children_max = std::max(children_max, children.size());
  // One line more than the barrier needs, for the first touch.
  const std::size_t bytes = (tree_barrier_lines(children_max) + std::size_t{1}) * HostMemory::kLineBytes;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  inbox_bytes_ = (bytes + page - 1) / page * page;
  void* const memory = ::mmap(nullptr, inbox_bytes_ * seats_.size(), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  INGOT_CHECK(memory != MAP_FAILED, "no memory for a barrier");
  inboxes_ = static_cast<std::byte*>(memory);
}

Shape::~Shape() { ::munmap(inboxes_, inbox_bytes_ * seats_.size()); }

BarrierSeat& Shape::seat(int id, const TasksWord& tasks, std::uint64_t phase) {
  const auto index = static_cast<std::size_t>(id);
  std::unique_ptr<BarrierSeat>& seat = seats_[index];
  if (seat == nullptr) {
    std::vector<std::span<std::byte>> inboxes;
    for (std::size_t i = 0; i < seats_.size(); ++i) inboxes.emplace_back(inboxes_ + i * inbox_bytes_, inbox_bytes_);
    inboxes[index].back() = std::byte{1};
    const HostMemory memory(EndpointId(static_cast<std::uint16_t>(id)), std::move(inboxes));
    seat = std::make_unique<BarrierSeat>(memory, tree_, words_, options_, tasks, phase);
  }
  seat->phase = phase;
  return *seat;
}

std::vector<int> Shape::processors() const {
  std::vector<int> result;
  for (const auto& seat : seats_) {
    INGOT_CHECK(seat != nullptr);
    result.push_back(seat->processor.load(std::memory_order_relaxed));
  }
  return result;
}

void Shape::wake_all() {
  for (std::size_t i = 0; i < seats_.size(); ++i) words_.wake(EndpointId(static_cast<std::uint16_t>(i)));
}

}  // namespace ingot::openmp
