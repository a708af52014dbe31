// A generation in a memfd: written by one mapping, read by another one, as from another process.
#include <chrono>
#include <optional>
#include <thread>

#include "bench/local_read/stores.h"
#include "core/check.h"
#include "replication/view/generation/memory.h"
#include "replication/view/generation/reader.h"
#include "replication/view/generation/writer.h"
#include "transport/host/segment.h"

namespace ingot::bench {
namespace {

constexpr std::uint64_t kBatch = 64;     // changes of a root, while the writer is fast
constexpr std::uint64_t kBatchUs = 200;  // a root is never later than that

std::uint64_t now_us() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

class ViewStore final : public ReadStore {
 public:
  explicit ViewStore(std::size_t bytes) {
    const auto fd = create_generation_memory(bytes);
    INGOT_CHECK(fd.ok(), "there is memory for the view");
    written_ = *Segment::map(fd->get(), Segment::Access::kReadWrite);
    read_ = *Segment::map(read_only_generation(fd->get())->get(), Segment::Access::kReadOnly);
  }

  void load(const std::vector<std::string>& keys, const std::string& value) override {
    writer_ = *GenerationWriter::create(written_.bytes(), {.seed = 1, .expected_keys = keys.size()});
    for (const std::string& key : keys) INGOT_CHECK(apply(key, value));
    publish();
    reader_ = *ViewReader::open(read_.bytes());
  }

  std::size_t get(const std::string& key) override {
    const ReadOutcome outcome = reader_->at_newest([&] {
      answer_.clear();
      return reader_->get(key, answer_);
    });
    INGOT_CHECK(outcome == ReadOutcome::kOk && answer_.size() == 1);
    return answer_[0].value.size();
  }

  std::size_t range(const std::string& key, std::size_t count) override {
    const ReadOutcome outcome = reader_->at_newest([&] {
      answer_.clear();
      return reader_->range({.begin = key, .limit = count}, answer_);
    });
    INGOT_CHECK(outcome == ReadOutcome::kOk);
    return answer_.bytes();
  }

  bool put(const std::string& key, const std::string& value) override {
    INGOT_CHECK(apply(key, value));
    if (++waiting_ < kBatch && now_us() < published_us_ + kBatchUs) return true;
    publish();
    while (writer_->free_bytes() < writer_->bytes() / 8) {  // what is retired is free again after its grace
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      publish();
    }
    return true;
  }

 private:
  bool apply(const std::string& key, const std::string& value) {
    ++revision_;
    return writer_
        ->apply({.key = key, .value = value, .revision = revision_, .created = revision_, .version = 1})
        .ok();
  }
  void publish() {
    published_us_ = now_us();
    INGOT_CHECK(writer_->publish(revision_, published_us_ / 1000).ok());
    waiting_ = 0;
  }

  Segment written_;
  Segment read_;
  std::unique_ptr<GenerationWriter> writer_;
  std::optional<ViewReader> reader_;
  ViewAnswer answer_;
  ViewRevision revision_ = 0;
  std::uint64_t waiting_ = 0;
  std::uint64_t published_us_ = 0;
};

}  // namespace

std::unique_ptr<ReadStore> make_view_store(std::size_t bytes) { return std::make_unique<ViewStore>(bytes); }

}  // namespace ingot::bench
