#include "transport/collectives/collectives.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace ingot::inline transport_collectives {
namespace {

using NodeId = ScheduleBuilder::NodeId;

// The kind of a collective's message, in the upper two bits of its tag; the chunk's number is in the others.
enum class Direction : std::uint16_t { kUp = 0, kDown = 1, kTaken = 2 };

std::uint16_t tag_of(Direction direction, std::size_t chunk) {
  return static_cast<std::uint16_t>(static_cast<std::uint16_t>(direction) << 14 | chunk);
}

// How a payload is divided.
struct Chunks {
  std::size_t bytes = 0;        // of all
  std::size_t chunk_bytes = 0;  // of all chunks but the last
  std::size_t count = 1;

  std::span<std::byte> of(std::span<std::byte> data, std::size_t chunk) const {
    const std::size_t begin = chunk * chunk_bytes;
    return data.subspan(begin, std::min(chunk_bytes, bytes - begin));
  }
};

absl::StatusOr<Chunks> cut(std::size_t bytes, std::size_t element_bytes, std::size_t chunk_bytes) {
  if (bytes > kCollectiveBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a collective cannot carry ", bytes, " bytes: at most ", kCollectiveBytesMax, " are allowed"));
  }
  if (chunk_bytes < 1 || chunk_bytes > kScheduleMessageBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("chunks cannot have ", chunk_bytes, " bytes: 1 to ",
                                                   kScheduleMessageBytesMax, " are allowed"));
  }
  const std::size_t elements = bytes / element_bytes;
  std::size_t of_chunk = std::max<std::size_t>(chunk_bytes / element_bytes, 1);
  of_chunk = std::max(of_chunk, (elements + kChunksMax - 1) / kChunksMax);
  if (of_chunk * element_bytes > kScheduleMessageBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("elements of ", element_bytes, " bytes do not fit in a message"));
  }
  return Chunks{bytes, of_chunk * element_bytes, std::max<std::size_t>((elements + of_chunk - 1) / of_chunk, 1)};
}

absl::Status check_reducer(const Reducer& reducer, std::span<const std::byte> data) {
  if (reducer.combine.function == nullptr) {
    return absl::InvalidArgumentError(
        "the operator has no function for these elements (bits of floating-point numbers?)");
  }
  const bool right_alignment = std::has_single_bit(reducer.alignment) && reducer.alignment <= 64 &&
                               reducer.element_bytes % reducer.alignment == 0;
  if (reducer.element_bytes < 1 || !right_alignment) {
    return absl::InvalidArgumentError(absl::StrCat("elements of ", reducer.element_bytes, " bytes aligned to ",
                                                   reducer.alignment, " are not possible"));
  }
  if (data.size() % reducer.element_bytes != 0) {
    return absl::InvalidArgumentError(absl::StrCat(data.size(), " bytes are not a whole number of elements of ",
                                                   reducer.element_bytes, " bytes"));
  }
  if (reinterpret_cast<std::uintptr_t>(data.data()) % reducer.alignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat("the data is not aligned to ", reducer.alignment, " bytes"));
  }
  return absl::OkStatus();
}

// Adds nodes of collectives to one schedule.
class CollectiveBuilder {
 public:
  explicit CollectiveBuilder(const TreeSeat& seat) : seat_(seat), builder_(seat.self, seat.endpoints) {}

  // Data flows from the parent to the children. `ready`: by chunk, the node after which the root may send it; empty: at
  // once.
  void add_broadcast(std::span<std::byte> data, const Chunks& chunks, const std::vector<NodeId>& ready) {
    for (std::size_t chunk = 0; chunk < chunks.count; ++chunk) {
      const auto part = chunks.of(data, chunk);
      const std::uint16_t tag = tag_of(Direction::kDown, chunk);
      std::optional<NodeId> before;
      if (seat_.parent) {
        before = builder_.receive(*seat_.parent, tag, part);
      } else if (!ready.empty()) {
        before = ready[chunk];
      }
      for (const EndpointId child : seat_.children) {
        const NodeId send = builder_.send(child, tag, part);
        if (before) builder_.connect(*before, send);
      }
    }
  }

  // Data flows from the children to the parent and is combined on the way. A child is at most kChunksAhead chunks ahead
  // of what its parent has combined, since the parent has room for that many. Returns, by chunk, the last node that
  // handles it here; empty if there are no children.
  std::vector<NodeId> add_reduction(const Reducer& reducer, std::span<std::byte> data, const Chunks& chunks) {
    const std::size_t rooms = std::min(chunks.count, kChunksAhead);
    const std::size_t room_bytes = (std::min(chunks.chunk_bytes, chunks.bytes) + 63) / 64 * 64;
    std::vector<std::span<std::byte>> buffers;
    for (std::size_t i = 0; i < seat_.children.size(); ++i) buffers.push_back(builder_.buffer(rooms * room_bytes));
    std::vector<NodeId> combined;
    for (std::size_t chunk = 0; chunk < chunks.count; ++chunk) {
      const auto part = chunks.of(data, chunk);
      std::optional<NodeId> last;
      for (std::size_t i = 0; i < seat_.children.size(); ++i) {
        const auto room = buffers[i].subspan(chunk % rooms * room_bytes, part.size());
        last = add_combination(reducer, seat_.children[i], chunk, chunks.count, part, room, last);
      }
      if (last) combined.push_back(*last);
      if (seat_.parent) add_send_up(chunk, part, last);
    }
    return combined;
  }

  // Arrivals go up without data, the release goes down.
  void add_barrier() {
    const NodeId all_came = builder_.compute({[](auto, auto, auto) {}, nullptr}, {}, {});
    std::optional<NodeId> released;
    for (const EndpointId child : seat_.children) {
      builder_.connect(builder_.receive(child, tag_of(Direction::kUp, 0), {}), all_came);
    }
    if (seat_.parent) {
      builder_.connect(all_came, builder_.send(*seat_.parent, tag_of(Direction::kUp, 0), {}));
      released = builder_.receive(*seat_.parent, tag_of(Direction::kDown, 0), {});
    }
    for (const EndpointId child : seat_.children) {
      builder_.connect(released.value_or(all_came), builder_.send(child, tag_of(Direction::kDown, 0), {}));
    }
  }

  absl::StatusOr<Schedule> build() { return builder_.build(); }

 private:
  NodeId add_combination(const Reducer& reducer, EndpointId child, std::size_t chunk, std::size_t chunks,
                         std::span<std::byte> part, std::span<std::byte> room, std::optional<NodeId> before) {
    const NodeId receive = builder_.receive(child, tag_of(Direction::kUp, chunk), room);
    const NodeId combine = builder_.compute(reducer.combine, part, room);
    builder_.connect(receive, combine);
    if (before) builder_.connect(*before, combine);
    if (chunk + kChunksAhead < chunks) {
      const NodeId taken = builder_.send(child, tag_of(Direction::kTaken, chunk + kChunksAhead), {});
      builder_.connect(combine, taken);
    }
    return combine;
  }

  void add_send_up(std::size_t chunk, std::span<const std::byte> part, std::optional<NodeId> before) {
    const NodeId send = builder_.send(*seat_.parent, tag_of(Direction::kUp, chunk), part);
    if (before) builder_.connect(*before, send);
    if (chunk < kChunksAhead) return;
    const NodeId room = builder_.receive(*seat_.parent, tag_of(Direction::kTaken, chunk), {});
    builder_.connect(room, send);
  }

  const TreeSeat& seat_;
  ScheduleBuilder builder_;
};

}  // namespace

absl::StatusOr<TreeSeat> TreeSeat::of(const Tree& tree, std::span<const EndpointId> members, EndpointId self,
                                      int endpoints) {
  if (auto status = validate(tree); !status.ok()) return status;
  if (members.size() != tree.children.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the tree has ", tree.size(), " cores and the group ",
                                                   members.size(), " members: give one to each"));
  }
  std::vector<EndpointId> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end());
  if (const auto twin = std::adjacent_find(sorted.begin(), sorted.end()); twin != sorted.end()) {
    return absl::InvalidArgumentError(absl::StrCat("endpoint ", twin->value(), " is a member twice"));
  }
  if (sorted.back().value() >= endpoints) {
    return absl::InvalidArgumentError(absl::StrCat("member ", sorted.back().value(), " is unknown: the fabric has ",
                                                   endpoints, " endpoints, numbered from 0"));
  }
  const auto found = std::find(members.begin(), members.end(), self);
  if (found == members.end()) {
    return absl::InvalidArgumentError(absl::StrCat("endpoint ", self.value(), " is not a member of the group"));
  }
  const auto core = static_cast<std::size_t>(found - members.begin());
  TreeSeat seat{self, endpoints, {}, {}};
  if (const int parent = parents_of(tree)[core]; parent >= 0) seat.parent = members[static_cast<std::size_t>(parent)];
  for (const int child : tree.children[core]) seat.children.push_back(members[static_cast<std::size_t>(child)]);
  return seat;
}

absl::StatusOr<Schedule> make_broadcast(const TreeSeat& seat, std::span<std::byte> data, std::size_t chunk_bytes) {
  const auto chunks = cut(data.size(), 1, chunk_bytes);
  if (!chunks.ok()) return chunks.status();
  CollectiveBuilder builder(seat);
  builder.add_broadcast(data, *chunks, {});
  return builder.build();
}

absl::StatusOr<Schedule> make_reduction(const TreeSeat& seat, const Reducer& reducer, std::span<std::byte> data,
                                        std::size_t chunk_bytes) {
  if (auto status = check_reducer(reducer, data); !status.ok()) return status;
  const auto chunks = cut(data.size(), reducer.element_bytes, chunk_bytes);
  if (!chunks.ok()) return chunks.status();
  CollectiveBuilder builder(seat);
  builder.add_reduction(reducer, data, *chunks);
  return builder.build();
}

absl::StatusOr<Schedule> make_allreduce(const TreeSeat& seat, const Reducer& reducer, std::span<std::byte> data,
                                        std::size_t chunk_bytes) {
  if (auto status = check_reducer(reducer, data); !status.ok()) return status;
  const auto chunks = cut(data.size(), reducer.element_bytes, chunk_bytes);
  if (!chunks.ok()) return chunks.status();
  CollectiveBuilder builder(seat);
  // A member's chunk comes down only after it has gone up, so one buffer serves both directions.
  const auto combined = builder.add_reduction(reducer, data, *chunks);
  builder.add_broadcast(data, *chunks, combined);
  return builder.build();
}

absl::StatusOr<Schedule> make_barrier(const TreeSeat& seat) {
  CollectiveBuilder builder(seat);
  builder.add_barrier();
  return builder.build();
}

}  // namespace ingot::transport_collectives
