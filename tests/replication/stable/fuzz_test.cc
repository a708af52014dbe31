// Damaged stable segments: the reader reports an error or returns a view, and never crashes or reads out of bounds.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "core/check.h"
#include "core/prng.h"
#include "replication/requests/limits.h"
#include "replication/stable/segment.h"
#include "replication/stable/view.h"
#include "tests/replication/stable/stable_model.h"
#include "tests/seeds.h"

namespace ingot {
namespace {

// Bytes at the end of mapped memory: a read beyond them is a fault.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes_max) : bytes_max_(round_up_to_pages(bytes_max)) {
    void* memory =
        ::mmap(nullptr, bytes_max_ + page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    INGOT_CHECK(memory != MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
    INGOT_CHECK(::mprotect(memory_ + bytes_max_, page_bytes(), PROT_NONE) == 0);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { ::munmap(memory_, bytes_max_ + page_bytes()); }

  // REQUIRES: a multiple of 64, so that the start is aligned.
  std::span<std::byte> last(std::size_t bytes) { return {memory_ + bytes_max_ - bytes, bytes}; }

 private:
  const std::size_t bytes_max_;
  std::byte* memory_;
};

// A real, small segment with records of every kind.
struct Sample {
  static constexpr std::size_t kBytes = 16 * 4096;
  std::string bytes;
  std::size_t used_end;  // after the last record
  std::size_t configuration_end;  // after the configuration in force
  std::string text;

  explicit Sample(std::uint64_t seed) {
    auto fd = create_segment("ingot-test-sample", kBytes);
    auto writer = StableSegment::open(fd->get(), EndpointId(1), Incarnation(2), kBytes);
    StableScript script(seed, 300, 1 << 30);
    for (int i = 0; i < 200; ++i) INGOT_CHECK((*writer)->store(script.next()));
    const auto last = std::make_shared<const std::string>("last");
    INGOT_CHECK((*writer)->store({StableWrite::Kind::kProposed, Epoch(1), Ballot(1'000'000), Slot(9), last}));
    INGOT_CHECK((*writer)->store({StableWrite::Kind::kConfiguration, {}, {}, {}, last}));
    auto reader = Segment::map(fd->get(), Segment::Access::kReadOnly);
    bytes.assign(reinterpret_cast<const char*>(reader->data()), kBytes);
    auto& header = *reinterpret_cast<StableHeader*>(bytes.data());
    used_end = kStableRingOffset + header.tail.load();
    const std::size_t cell_bytes = stable_configuration_cell_bytes(kBytes);
    configuration_end =
        kBytes - (2 - header.configuration_flips % 2) * cell_bytes + sizeof(StableConfigurationCell) + 4;
    INGOT_CHECK(used_end < kBytes && header.head.load() < header.tail.load());
    text = to_text(*StableView::read(reader->bytes()));
  }

  std::span<std::byte> copy_to(Guarded& guarded) const {
    const auto out = guarded.last(kBytes);
    std::memcpy(out.data(), bytes.data(), kBytes);
    return out;
  }
};

// Reads every command of a view, and checks its size against the writers' bound.
void use(const absl::StatusOr<StableView>& view) {
  if (!view.ok()) {
    REQUIRE((absl::IsDataLoss(view.status()) || absl::IsNotFound(view.status())));
    return;
  }
  for (const auto& [slot, entry] : view->accepted) REQUIRE(entry.command->size() <= kBatchBytesMax);
  REQUIRE(!to_text(*view).empty());
}

TEST_CASE("one changed byte within the used part of a segment is noticed or harmless") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  const Sample sample(prng());
  Guarded guarded(Sample::kBytes);
  REQUIRE(to_text(*StableView::read(sample.copy_to(guarded))) == sample.text);
  int noticed = 0;
  for (std::size_t at = 0; at < sample.used_end; ++at) {
    INFO("byte " << at);
    const auto bytes = sample.copy_to(guarded);
    bytes[at] ^= static_cast<std::byte>(1 + prng.below(255));
    const auto view = StableView::read(bytes);
    use(view);
    (void)StableView::writer_state(bytes);
    noticed += view.ok() ? 0 : 1;
    // Undetected only where no checksum covers: the owner's name, the lock, the padding, the configuration cell that is
    // not in force, the head (an older or newer one) and the unused rest of the header page.
    if (at >= kStableRingOffset && view.ok()) REQUIRE(to_text(*view) == sample.text);
  }
  CHECK(noticed > 0);
}

TEST_CASE("one changed byte of the configuration is noticed") {
  const Sample sample(3);
  Guarded guarded(Sample::kBytes);
  for (std::size_t at = sample.configuration_end - 4 - sizeof(StableConfigurationCell); at < sample.configuration_end;
       ++at) {
    INFO("byte " << at);
    const auto bytes = sample.copy_to(guarded);
    bytes[at] ^= std::byte{1};
    CHECK(absl::IsDataLoss(StableView::read(bytes).status()));
    CHECK(absl::IsDataLoss(StableView::read_without_records(bytes).status()));
  }
}

TEST_CASE("a reader that skips records gets the rest of a segment whose records are damaged") {
  const Sample sample(3);
  Guarded guarded(Sample::kBytes);
  const auto bytes = sample.copy_to(guarded);
  const auto whole = StableView::read(bytes);
  REQUIRE(whole.ok());
  std::memset(bytes.data() + kStableRingOffset, 0xff, stable_ring_bytes(Sample::kBytes));
  REQUIRE(absl::IsDataLoss(StableView::read(bytes).status()));
  const auto rest = StableView::read_without_records(bytes);
  REQUIRE(rest.ok());
  CHECK(rest->configuration == whole->configuration);
  CHECK(rest->incarnation == whole->incarnation);
  CHECK(rest->promised == whole->promised);
  CHECK(rest->accepted.empty());
}

TEST_CASE("many changed bytes, wild positions, wrong sizes: never a crash") {
  const std::uint64_t seed = testing::drawn_seed();
  INFO("seed " << seed);
  Prng prng(seed);
  const Sample sample(prng());
  Guarded guarded(Sample::kBytes);
  for (int round = 0; round < 10'000; ++round) {
    INFO("round " << round);
    auto bytes = sample.copy_to(guarded);
    auto& header = *reinterpret_cast<StableHeader*>(bytes.data());
    const std::size_t reach = prng.chance(0.5) ? sizeof(StableHeader) : sample.used_end;
    for (std::uint64_t changes = prng.below(6); changes > 0; --changes) {
      bytes[prng.below(reach)] = static_cast<std::byte>(prng.below(256));
    }
    if (prng.chance(0.3)) header.head = prng.below(4 * Sample::kBytes) & ~std::uint64_t{7};
    if (prng.chance(0.3)) header.tail = header.head + (prng.below(Sample::kBytes) & ~std::uint64_t{7});
    if (prng.chance(0.1)) header.tail = prng();
    if (prng.chance(0.1)) header.configuration_flips = prng();
    if (prng.chance(0.1)) {
      const StableConfigurationCell cell{.checksum = prng(), .bytes = prng.chance(0.5) ? prng() : prng.below(9000)};
      const std::size_t cell_bytes = stable_configuration_cell_bytes(Sample::kBytes);
      std::memcpy(bytes.data() + Sample::kBytes - (1 + prng.below(2)) * cell_bytes, &cell, sizeof cell);
    }
    use(StableView::read(bytes));
    use(StableView::read_without_records(bytes));
    (void)StableView::writer_state(bytes);
  }
}

TEST_CASE("truncated segments are refused, also when they claim to be whole") {
  const Sample sample(1);
  Guarded guarded(Sample::kBytes);
  for (std::size_t size = 0; size < Sample::kBytes; size += 64) {
    INFO(size << " bytes");
    const auto bytes = guarded.last(size);
    std::memcpy(bytes.data(), sample.bytes.data(), size);
    CHECK(absl::IsDataLoss(StableView::read(bytes).status()));
    (void)StableView::writer_state(bytes);
    if (size < kStableRingOffset) continue;
    if (size < kStableRingOffset + 2 * stable_configuration_cell_bytes(size)) continue;
    auto& header = *reinterpret_cast<StableHeader*>(bytes.data());
    header.ring_bytes = stable_ring_bytes(size);
    CHECK(StableView::read(bytes).ok() == (size == Sample::kBytes));  // the configuration would be beyond the end
    header.configuration_flips = 0;
    const auto view = StableView::read(bytes);
    CHECK(view.ok() == (kStableRingOffset + stable_ring_bytes(size) >= sample.used_end));
    use(view);
  }
}

// Forged records with valid checksums: only the bounds checks protect the reader.
TEST_CASE("records that lie about their length, with a fitting checksum, are refused") {
  const Sample sample(2);
  Guarded guarded(Sample::kBytes);
  for (const std::uint32_t length : {0u, 8u, 100u, 70'000u, 3'000'000u, 0x7fff'ffffu, 0xffff'ffffu}) {
    for (const std::uint32_t kind : {0u, 1u, 2u, 3u, 4u, 0xffff'ffffu}) {
      INFO("kind " << kind << " length " << length);
      const auto bytes = sample.copy_to(guarded);
      auto& header = *reinterpret_cast<StableHeader*>(bytes.data());
      header.head = 0;
      header.tail = stable_ring_bytes(bytes.size());
      StableRecord record{
          .checksum = 0, .kind = StableRecordKind{kind}, .bytes = length, .epoch = 1, .ballot = 1, .slot = 1};
      const std::size_t room = stable_ring_bytes(bytes.size()) - sizeof record;
      const std::string command(std::min<std::size_t>(length, room), '\0');
      record.checksum = stable_checksum(record, kind == 0 ? "" : command, 0);
      std::memcpy(bytes.data() + kStableRingOffset, &record, sizeof record);
      std::memset(bytes.data() + kStableRingOffset + sizeof record, 0, room);
      CHECK(absl::IsDataLoss(StableView::read(bytes).status()));
    }
  }
}

}  // namespace
}  // namespace ingot
