#include "services/view/publisher/publisher.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/enum_names.h"
#include "replication/store/api.h"
#include "replication/view/board/layout.h"
#include "replication/view/generation/memory.h"
#include "services/log/log.h"
#include "services/view/publisher/limits.h"
#include "transport/host/event_loop.h"

namespace ingot::inline services_view_publisher {

namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;

// The store's revision, of a query that reads nothing.
std::string revision_query() {
  kv::EventsRequest nothing;
  nothing.from.revision = std::numeric_limits<kv::Revision>::max();
  return kv::encode(kv::Request(std::move(nothing)));
}

std::optional<ViewRevision> revision_of(const ReplicaReply& reply) {
  if (reply.outcome != ReplicaReply::Outcome::kOk) return std::nullopt;
  const auto result = kv::decode_result(reply.payload);
  if (!result.ok() || result->code != kv::Code::kOk) return std::nullopt;
  return result->revision;
}

ViewReplaced shown(WhyReplaced why) {
  if (why == WhyReplaced::kFull || why == WhyReplaced::kSparse) return ViewReplaced::kFull;
  return why == WhyReplaced::kOvertaken ? ViewReplaced::kBehind : ViewReplaced::kRefused;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Publisher>> Publisher::create(const PublisherOptions& options, ReplicaClient& client,
                                                             const InstanceView& view, ViewPage& page,
                                                             TicketServer& tickets) {
  auto fd = create_board_memory();
  if (!fd.ok()) return fd.status();
  if (::fchmod(fd->get(), S_IRUSR | S_IWUSR) != 0) return absl::InternalError("a view's board cannot be protected");
  auto readers_fd = read_only_generation(fd->get());
  if (!readers_fd.ok()) return readers_fd.status();
  auto memory = Segment::map(fd->get(), Segment::Access::kReadWrite);
  if (!memory.ok()) return memory.status();
  const auto told = static_cast<std::int64_t>(page.revision.get());
  auto keeper = BoardKeeper::create(memory->bytes(), {options.identity, options.incarnation, told});
  if (!keeper.ok()) return keeper.status();
  auto publisher = BoardPublisher::open(memory->bytes(), options.incarnation);
  if (!publisher.ok()) return publisher.status();
  publisher->hold();
  Board board{*std::move(fd), *std::move(readers_fd), *std::move(memory)};
  return std::unique_ptr<Publisher>(new Publisher(options, client, view, page, tickets, std::move(board),
                                                  *std::move(keeper), *std::move(publisher)));
}

Publisher::Publisher(const PublisherOptions& options, ReplicaClient& client, const InstanceView& view, ViewPage& page,
                     TicketServer& tickets, Board board, BoardKeeper keeper, BoardPublisher publisher)
    : options_(options),
      bytes_max_(bytes_for_live(kGenerationBytesMax, options.bytes_max == 0 ? kGenerationBytesMax : options.bytes_max)),
      client_(client),
      view_(view),
      page_(page),
      tickets_(tickets),
      board_(std::move(board)),
      keeper_(std::move(keeper)),
      publisher_(std::move(publisher)),
      wanted_(page.generations.get() == 0 ? WhyReplaced::kFirst : WhyReplaced::kDied) {}

// ---- Making and naming ----------------------------------------------------------------------------------------------

int Publisher::poll(std::uint64_t now_ns) {
  now_ms_ = now_ns / kNsPerMs;
  if (waits_for_reader()) return 0;
  int work = 0;
  if (!begin_revision_ && !asking_revision_ && now_ms_ >= ask_again_ms_) ask_revision(), ++work;
  if (current_ && !current_stands()) work += current_->poll(now_ms_);
  if (next_) work += next_->poll(now_ms_);
  if (next_ && next_->given_up()) drop_next(), ++work;
  if (wanted_ && !next_ && now_ms_ >= make_ms_) make(), ++work;
  if (next_ && next_->ready()) name_next();
  if (!gone_.empty()) {
    if (gone_.back()->punch()) gone_.pop_back();
    ++work;
  }
  look_for_barrier();
  return work;
}

std::uint64_t Publisher::deadline_ns() const {
  std::uint64_t ms = kNever / kNsPerMs;
  if (waits_for_reader()) return kNever;
  if (!begin_revision_ && !asking_revision_) ms = std::min(ms, ask_again_ms_);
  if (wanted_ && !next_) ms = std::min(ms, make_ms_);
  if (current_ && !current_stands()) ms = std::min(ms, current_->deadline_ms());
  if (next_) ms = std::min(ms, next_->deadline_ms());
  if (!gone_.empty()) ms = 0;
  if (tickets_.age_wanted() && !barrier_under_way_ && !barrier_) ms = std::min(ms, barrier_ms_);
  return ms >= kNever / kNsPerMs ? kNever : ms * kNsPerMs;
}

void Publisher::ask_revision() {
  asking_revision_ = true;
  client_.submit(RequestKind::kLinearizableQuery, revision_query(), [this](const ReplicaReply& reply) {
    asking_revision_ = false;
    begin_revision_ = revision_of(reply);
    if (!begin_revision_) ask_again_ms_ = now_ms_ + kLookAgainMs;
  });
}

// What is there at present, by the page of the replica that has the newest state.
SourceSize Publisher::size() const {
  const auto newest = std::max_element(view_.replicas.begin(), view_.replicas.end(), [](const auto* a, const auto* b) {
    return (*a)[ReplicaCounter::kStoreRevision].get() < (*b)[ReplicaCounter::kStoreRevision].get();
  });
  return {(**newest)[ReplicaCounter::kStoreKeys].get(), (**newest)[ReplicaCounter::kStoreLiveBytes].get()};
}

// The stores count more for a key, and for a lease's hold on it, than a view needs for them. So a generation that is
// found to be far too large shows how many bytes are needed: by the stores' count the next one would be as large.
std::uint64_t Publisher::wanted_bytes(const SourceSize& size, WhyReplaced why) const {
  const bool measured = current_ && why == WhyReplaced::kSparse;
  std::uint64_t bytes = measured ? 0 : bytes_for_source(size, bytes_max_);
  if (current_) bytes = std::max(bytes, bytes_for_live(current_->writer().live_bytes(), bytes_max_));
  return std::min(std::max(bytes, 2 * full_bytes_), bytes_max_);
}

// The one that is current goes on meanwhile, and polls for its changes.
void Publisher::make() {
  const WhyReplaced why = *std::exchange(wanted_, std::nullopt);
  const SourceSize there = size();
  MadeGeneration::Wanted wanted;
  wanted.identity = options_.identity;
  wanted.number = page_.generations.get() + 1;
  wanted.bytes = wanted_bytes(there, why);
  wanted.bytes_max = bytes_max_;
  wanted.expected_keys = there.keys;
  wanted.why = why;
  auto made = MadeGeneration::create(wanted, client_, [this] { return size(); }, *this);
  if (!made.ok()) return not_made(made.status(), wanted);
  page_.generations.add(1);
  if (current_) current_->set_standing(false);
  next_ = *std::move(made);
  next_->start(now_ms_);
}

// An index of so many keys that it does not fit needs a larger generation, as keys do that do not fit.
void Publisher::not_made(const absl::Status& status, const MadeGeneration::Wanted& wanted) {
  wanted_ = wanted.why;
  if (absl::IsInvalidArgument(status)) {
    wanted_ = WhyReplaced::kFull;
    too_few(wanted.bytes);
  } else {
    const std::string cause(status.message());
    if (cause != logged_) log_warning(absl::StrCat("a generation of the view cannot be made: ", cause));
    logged_ = cause;
  }
  make_again_later();
}

// Whoever waits for the first one is told that there will be none for now.
void Publisher::too_few(std::uint64_t bytes) {
  full_bytes_ = bytes;
  if (bytes < bytes_max_) return;
  const std::string sentence = absl::StrCat("the keys need more memory than the view may have (", bytes_max_,
                                            " bytes); it stays as it is until they need less, or --view-bytes is more");
  if (page_.full.get() == 0) log_warning(sentence);
  page_.full.set(1);
  if (!current_) tickets_.refuse(absl::OutOfRangeError(sentence));
}

// The standing question is the current one's again.
void Publisher::drop_next() {
  next_.reset();
  if (current_) current_->set_standing(true);
}

void Publisher::make_again_later() {
  make_again_ms_ = std::clamp(2 * make_again_ms_, kMakeAgainFirstMs, kMakeAgainMaxMs);
  make_ms_ = now_ms_ + make_again_ms_;
}

// Whoever waits for a change that only the next one has seen is told that it may have passed.
void Publisher::name_next() {
  const ViewRevision revision = next_->writer().revision();
  if (!begin_revision_ || revision < *begin_revision_) return;
  if (current_ && revision < current_->writer().revision()) return;
  const MadeGeneration::Wanted& its = next_->wanted();
  publisher_.set_revision(revision);
  keeper_.name({its.number, its.bytes, its.why, options_.incarnation});
  std::unique_ptr<MadeGeneration> before = std::exchange(current_, std::move(next_));
  tickets_.give(board_.readers_fd.get(), current_->readers_fd());
  tickets_.missed(revision);
  tickets_.published(revision);
  if (before) {
    page_.replaced_why.set(static_cast<std::uint64_t>(shown(its.why)));
    before->mark_gone();
    gone_.push_back(std::move(before));
  }
  log_info(absl::StrCat("generation ", its.number, " of the view is current: ", current_->writer().keys(),
                        " keys at revision ", revision, ", ", its.bytes, " bytes (", name_of(its.why), ")"));
  full_bytes_ = 0;
  logged_.clear();
  make_again_ms_ = 0;
  page_.full.set(0);
  page_.generation.set_release(its.number);
  show();
}

// ---- What generations report ----------------------------------------------------------------------------------------

void Publisher::changed(std::uint64_t number, const ViewChange& change) {
  if (current_ && current_->wanted().number == number) tickets_.changed(change.key, change.revision);
}

void Publisher::published(std::uint64_t number, ViewRevision revision) {
  page_.roots.add(1);
  if (!current_ || current_->wanted().number != number) return;
  publisher_.set_revision(revision);
  tickets_.published(revision);
  show();
}

void Publisher::to_replace(std::uint64_t number, WhyReplaced why, bool gives_up) {
  const bool is_current = current_ && current_->wanted().number == number;
  if (is_current && (next_ || wanted_)) return;  // its next one is on its way
  const std::uint64_t bytes = is_current ? current_->wanted().bytes : next_ ? next_->wanted().bytes : 0;
  wanted_ = why;
  if (gives_up && why == WhyReplaced::kFull) too_few(bytes);
  make_again_later();
}

void Publisher::show() {
  const GenerationWriter& writer = current_->writer();
  page_.revision.set(static_cast<std::uint64_t>(writer.revision()));
  page_.published_ns.set(monotonic_ns());
  page_.keys.set(writer.keys());
  page_.bytes.set(writer.bytes());
  page_.live_bytes.set(writer.live_bytes());
}

// ---- Age ------------------------------------------------------------------------------------------------------------

// A read barrier is a linearizable read of the revision: what was acknowledged before it was sent is in that revision.
void Publisher::look_for_barrier() {
  if (barrier_ && current_ && current_->writer().revision() >= barrier_->revision) {
    publisher_.set_barrier_ns(barrier_->sent_ns);
    barrier_.reset();
    age_known_ = true;
  }
  if (!tickets_.age_wanted()) {
    if (std::exchange(age_known_, false)) publisher_.set_barrier_ns(0);
    return;
  }
  if (barrier_under_way_ || barrier_ || now_ms_ < barrier_ms_) return;
  barrier_under_way_ = true;
  barrier_ms_ = now_ms_ + kBarrierMs;
  const auto sent_ns = static_cast<std::int64_t>(monotonic_ns());
  client_.submit(RequestKind::kLinearizableQuery, revision_query(), [this, sent_ns](const ReplicaReply& reply) {
    barrier_under_way_ = false;
    if (const auto revision = revision_of(reply)) barrier_ = Barrier{sent_ns, *revision};
  });
}

}  // namespace ingot::services_view_publisher
