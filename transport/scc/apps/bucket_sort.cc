// Bucket sort of 32-bit keys: 48 buckets of equal ranges, of which each rank owns as many as any other, or one more.
//
//                      broadcast                             point to point
//   root     rank 0 broadcasts all keys,              rank 0 cuts the keys into buckets,
//            each takes those of its buckets          and sends each rank its own
//            ... sorts them, and sends them to rank 0, which puts them one behind another
//   spread   every rank broadcasts its part,          every rank cuts its part into buckets,
//            each takes those of its buckets          and every pair of ranks exchanges what belongs to the other
//            ... sorts them, and keeps them
//
// Private memory: the keys | the own ones (at rank 0 of "root" in the end: all) | a part, cut | two words.
#include <bit>

#include "absl/strings/str_cat.h"
#include "core/prng.h"
#include "transport/scc/apps/program.h"

namespace ingot::scc::inline transport_scc_apps {
namespace {

using Key = std::uint32_t;

int bucket_of(Key key) { return static_cast<int>((std::uint64_t{key} * kBuckets) >> 32); }

class BucketSort final : public Application {
 public:
  BucketSort(const AppPoint& point, std::uint64_t seed)
      : spread_(point.variant == "spread"), keys_(point.size), stride_(whole_lines(point.size * sizeof(Key))) {
    Prng random(seed);
    for (Key& key : keys_) key = static_cast<Key>(random());
  }

  std::size_t private_bytes() const override { return 3 * stride_ + kLineBytes; }

  void fill(Chip& chip, const Group& group) override {
    held_.assign(static_cast<std::size_t>(group.size()), 0);
    for (int rank = 0; rank < (spread_ ? group.size() : 1); ++rank) {
      const Share part = spread_ ? share_of(size(), rank, group.size()) : Share{0, size()};
      std::copy_n(&keys_[part.begin], part.size(), &keys(chip.private_memory(group.core(rank)), kKeys)[part.begin]);
    }
  }

  void run(Worker& worker) override {
    std::size_t& held = held_[static_cast<std::size_t>(worker.rank())];
    if (!worker.communication().point_to_point()) {
      held = take_from_broadcast(worker);
    } else {
      held = spread_ ? exchange_parts(worker) : share_out(worker);
    }
    sort(worker, held);
    if (!spread_) held = collect(worker, held);
  }

  absl::Status check(Chip& chip, const Group& group) override {
    std::vector<Key> expected = keys_, found;
    std::sort(expected.begin(), expected.end());
    for (int rank = 0; rank < (spread_ ? group.size() : 1); ++rank) {
      const auto own = keys(chip.private_memory(group.core(rank)), kOwn);
      const auto end = own.begin() + static_cast<std::ptrdiff_t>(held_[static_cast<std::size_t>(rank)]);
      found.insert(found.end(), own.begin(), end);
    }
    if (found == expected) return absl::OkStatus();
    const auto at = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end()).first;
    return absl::InternalError(absl::StrCat("the ", found.size(), " sorted keys are not the sequential run's from ",
                                            at - found.begin(), " on"));
  }

 private:
  static constexpr std::size_t kKeys = 0, kOwn = 1, kCut = 2;

  std::size_t size() const { return keys_.size(); }
  std::span<Key> keys(std::span<std::byte> memory, std::size_t which) const {
    return array_at<Key>(memory, which * stride_, size());
  }
  Address address(std::size_t which, std::size_t key) const {
    return private_address(which * stride_ + key * sizeof(Key));
  }
  Address scratch() const { return private_address(3 * stride_); }
  static int owner_of(Key key, int ranks) { return bucket_of(key) * ranks / kBuckets; }

  // Every rank checks all keys, one operation for each. Returns the number of its own.
  std::size_t take_from_broadcast(Worker& worker) const {
    Communication& all = worker.communication();
    std::vector<Message> messages;
    for (int rank = 0; rank < (spread_ ? worker.ranks() : 1); ++rank) {
      const Share part = spread_ ? share_of(size(), rank, worker.ranks()) : Share{0, size()};
      messages.push_back({all.group().core(rank), part.size() * sizeof(Key), address(kKeys, part.begin)});
    }
    all.broadcast(messages);
    const auto own = keys(worker.memory(), kOwn);
    std::size_t held = 0;
    for (const Key key : keys(worker.memory(), kKeys)) {
      if (owner_of(key, worker.ranks()) == worker.rank()) own[held++] = key;
    }
    worker.computed(size());
    return held;
  }

  // Sorts a part's keys by owner into `to`, one operation for each. Returns where each owner's keys begin, and the end.
  std::vector<std::size_t> cut(Worker& worker, Share part, std::size_t to) const {
    const auto from = keys(worker.memory(), kKeys).subspan(part.begin, part.size());
    std::vector<std::size_t> begin(static_cast<std::size_t>(worker.ranks()) + 1);
    for (const Key key : from) ++begin[static_cast<std::size_t>(owner_of(key, worker.ranks())) + 1];
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    std::vector<std::size_t> next = begin;
    for (const Key key : from) {
      keys(worker.memory(), to)[next[static_cast<std::size_t>(owner_of(key, worker.ranks()))]++] = key;
    }
    worker.computed(part.size());
    return begin;
  }

  Communication::Piece piece(std::size_t which, const std::vector<std::size_t>& begin, int owner) const {
    const auto i = static_cast<std::size_t>(owner);
    return {address(which, begin[i]), (begin[i + 1] - begin[i]) * sizeof(Key)};
  }

  std::size_t share_out(Worker& worker) const {
    Communication& all = worker.communication();
    if (worker.rank() != 0) {
      return all.receive_sized([&](std::size_t) { return address(kOwn, 0); }, 0, scratch()) / sizeof(Key);
    }
    const auto begin = cut(worker, {0, size()}, kOwn);
    for (int rank = 1; rank < worker.ranks(); ++rank) all.send_sized(piece(kOwn, begin, rank), rank, scratch());
    return begin[1];  // its own come first already
  }

  std::size_t exchange_parts(Worker& worker) const {
    const auto begin = cut(worker, share_of(size(), worker.rank(), worker.ranks()), kCut);
    const auto [at, bytes] = piece(kCut, begin, worker.rank());
    std::memcpy(worker.memory().data() + address(kOwn, 0), worker.memory().data() + at, bytes);
    std::size_t held = bytes / sizeof(Key);
    worker.communication().exchange(
        [&](int to) { return piece(kCut, begin, to); },
        [&](int, std::size_t more) {
          held += more / sizeof(Key);
          return address(kOwn, held - more / sizeof(Key));
        },
        scratch());
    return held;
  }

  // m keys of one bucket are m log2(m) operations.
  void sort(Worker& worker, std::size_t held) const {
    const auto own = keys(worker.memory(), kOwn).first(held);
    std::uint64_t in_bucket[kBuckets] = {}, operations = 0;
    for (const Key key : own) ++in_bucket[bucket_of(key)];
    for (const std::uint64_t m : in_bucket) operations += m * static_cast<std::uint64_t>(std::bit_width(m));
    std::sort(own.begin(), own.end());
    worker.computed(operations);
  }

  std::size_t collect(Worker& worker, std::size_t held) const {
    Communication& all = worker.communication();
    static_cast<void>(all.sends());  // a step of all cores
    const Communication::Piece own{address(kOwn, 0), held * sizeof(Key)};
    if (worker.rank() != 0) {
      all.send_sized(own, 0, scratch());
      return 0;
    }
    for (int rank = 1; rank < worker.ranks(); ++rank) {
      held += all.receive_sized([&](std::size_t) { return address(kOwn, held); }, rank, scratch()) / sizeof(Key);
    }
    return held;
  }

  const bool spread_;
  std::vector<Key> keys_;
  const std::size_t stride_;
  std::vector<std::size_t> held_;  // sorted keys, by rank
};

}  // namespace

std::unique_ptr<Application> make_bucket_sort(const AppPoint& point, std::uint64_t seed) {
  return std::make_unique<BucketSort>(point, seed);
}

}  // namespace ingot::scc::transport_scc_apps
