#include "services/view/publisher/made_generation.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "replication/view/generation/memory.h"
#include "services/view/publisher/limits.h"
#include "transport/host/kernel_random.h"

namespace ingot::inline services_view_publisher {

// No other user may open the memory for writing by its descriptor.
absl::StatusOr<std::unique_ptr<MadeGeneration>> MadeGeneration::create(const Wanted& wanted, ReplicaClient& client,
                                                                       std::function<SourceSize()> size,
                                                                       GenerationObserver& observer) {
  auto fd = create_generation_memory(wanted.bytes);
  if (!fd.ok()) return fd.status();
  if (::fchmod(fd->get(), S_IRUSR | S_IWUSR) != 0) return absl::InternalError("a view's memory cannot be protected");
  auto readers_fd = read_only_generation(fd->get());
  if (!readers_fd.ok()) return readers_fd.status();
  auto memory = Segment::map(fd->get(), Segment::Access::kReadWrite);
  if (!memory.ok()) return memory.status();
  const WriterOptions options{.seed = draw_random_u64(),
                              .expected_keys = wanted.expected_keys,
                              .identity = wanted.identity,
                              .number = wanted.number};
  auto writer = GenerationWriter::create(memory->bytes(), options);
  if (!writer.ok()) return writer.status();
  return std::unique_ptr<MadeGeneration>(new MadeGeneration(wanted, *std::move(fd), *std::move(readers_fd),
                                                            *std::move(memory), *std::move(writer), client,
                                                            std::move(size), observer));
}

MadeGeneration::MadeGeneration(const Wanted& wanted, Descriptor fd, Descriptor readers_fd, Segment memory,
                               std::unique_ptr<GenerationWriter> writer, ReplicaClient& client,
                               std::function<SourceSize()> size, GenerationObserver& observer)
    : wanted_(wanted),
      fd_(std::move(fd)),
      readers_fd_(std::move(readers_fd)),
      memory_(std::move(memory)),
      writer_(std::move(writer)),
      observer_(observer),
      maker_(*writer_, MakerOptions{.bytes_max = wanted.bytes_max}),
      source_(client, *this, std::move(size)) {}

void MadeGeneration::start(std::uint64_t now_ms) {
  now_ms_ = now_ms;
  execute(maker_.start(now_ms));
}

int MadeGeneration::poll(std::uint64_t now_ms) {
  if (given_up_) return 0;
  now_ms_ = now_ms;
  int work = source_.poll(now_ms);
  if (!given_up_ && maker_.waits_for_time() && now_ms >= tick_ms_) {
    tick_ms_ = now_ms + kMakerTickMs;
    execute(maker_.tick(now_ms));
    ++work;
  }
  return work;
}

std::uint64_t MadeGeneration::deadline_ms() const {
  if (given_up_) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t source = source_.deadline_ms();
  return maker_.waits_for_time() ? std::min(source, tick_ms_) : source;
}

void MadeGeneration::on_page(const SourcePage& page) { execute(maker_.on_page(page, now_ms_)); }

void MadeGeneration::on_changes(const SourceChanges& changes) {
  for (const ViewChange& each : changes.entries) observer_.changed(wanted_.number, each);
  execute(maker_.on_changes(changes, now_ms_));
}

void MadeGeneration::on_compacted(ViewRevision compacted) { execute(maker_.on_compacted(compacted, now_ms_)); }
void MadeGeneration::on_page_failed() { execute(maker_.on_page_failed(now_ms_)); }
void MadeGeneration::on_changes_failed() { execute(maker_.on_changes_failed(now_ms_)); }

void MadeGeneration::execute(const MakerEffects& effects) {
  if (effects.give_up) given_up_ = true;
  if (effects.ask_page && !given_up_) source_.ask_page(*effects.ask_page);
  if (effects.ask_changes && !given_up_) source_.ask_changes(*effects.ask_changes);
  ready_ = ready_ || effects.ready;
  if (effects.published) observer_.published(wanted_.number, *effects.published);
  if (effects.replace) observer_.to_replace(wanted_.number, *effects.replace, false);
  if (effects.give_up) observer_.to_replace(wanted_.number, *effects.give_up, true);
}

void MadeGeneration::mark_gone() {
  given_up_ = true;
  GenerationWriter::mark_gone(memory_.bytes());
}

// What cannot be given back now is given back with the last mapping.
bool MadeGeneration::punch() {
  const auto last = punch_some(fd_.get(), punched_);
  return !last.ok() || *last;
}

}  // namespace ingot::services_view_publisher
