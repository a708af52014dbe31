#include "services/scc/chip_host.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replication/client/limits.h"
#include "services/log/log.h"
#include "transport/scc/options.h"

namespace ingot::inline services_scc {

absl::StatusOr<std::unique_ptr<ChipHost>> ChipHost::start(const DaemonConfig& config, const SccConfig& scc) {
  std::unique_ptr<ChipHost> host(new ChipHost);
  std::promise<absl::Status> built;
  auto outcome = built.get_future();
  // The group is built on the thread that runs it: a stable segment belongs to one thread for life.
  host->thread_ = std::thread([&config, &scc, raw = host.get(), built = std::move(built)]() mutable {
    const absl::Status status = raw->build(config, scc);
    built.set_value(status);
    if (status.ok()) raw->run();
    raw->group_.reset();  // on this thread, for the same reason
  });
  if (auto status = outcome.get(); !status.ok()) return status;
  return host;
}

absl::Status ChipHost::build(const DaemonConfig& config, const SccConfig& scc) {
  auto group = ChipGroup::create(config, scc, log_warning);
  if (!group.ok()) return group.status();
  group_ = *std::move(group);
  view_ = &group_->view();
  if (scc.record.empty()) return absl::OkStatus();
  auto recorder = RecordingWriter::create(scc.record, config, scc);
  if (!recorder.ok()) return recorder.status();
  recorder_ = *std::move(recorder);
  return absl::OkStatus();
}

ChipHost::~ChipHost() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = leaving_ = true;
  }
  work_arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ChipHost::submit(RequestKind kind, std::string payload, Callback callback, EndpointId replica) {
  ReplicaReply refusal{ReplicaReply::Outcome::kOverloaded, Slot(), {}};
  {
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = payload.size();
    if (!ended_ && waiting_.size() < kFrontEndRequestsMax && waiting_bytes_ + bytes <= kFrontEndBytesMax) {
      const std::uint64_t id = next_id_++;
      waiting_bytes_ += bytes;
      waiting_.emplace(id, Waiting{std::move(callback), bytes});
      work_.push_back({{ChipInput::Kind::kRequest, {id, kind, replica, std::move(payload)}, 0}, nullptr, nullptr});
      callback = nullptr;
    }
  }
  if (callback) return callback(refusal);
  work_arrived_.notify_one();
}

void ChipHost::post(Task task) { add({{}, nullptr, std::move(task)}); }

void ChipHost::act(ChipInput input, Told done) {
  add({std::move(input), std::move(done), nullptr});
}

void ChipHost::refuse(const Work& work) {
  if (work.task) return work.task(nullptr);
  if (work.done) work.done(absl::UnavailableError("the simulated chip has ended"));
}

void ChipHost::add(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      work_.push_back(std::move(work));
      work_arrived_.notify_one();
      return;
    }
  }
  refuse(work);
}

void ChipHost::on_failure(std::function<void(const absl::Status&)> failed) {
  const std::lock_guard lock(mutex_);
  failed_ = std::move(failed);
}

void ChipHost::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  work_arrived_.notify_one();
}

void ChipHost::run() {
  while (take_in()) {
    const auto began = Clock::now();
    const std::uint64_t began_ps = group_->boundary_ps();
    const ChipGroup::Progress progress = group_->round();
    hand_out();
    if (progress == ChipGroup::Progress::kTimeOut) {
      fail(absl::ResourceExhaustedError(absl::StrCat("the chip's virtual time has run out after ",
                                                     scc::kVirtualSecondsMax, " s; start the daemon anew")));
      break;
    }
    if (group_->all_dead()) {
      fail(absl::InternalError("the last replica is gone, and the state with it"));
      break;
    }
    wait(progress, began + std::chrono::nanoseconds((group_->boundary_ps() - began_ps) / 1000));
  }
  if (recorder_ != nullptr) recorder_->end(group_->summary());
  give_up();
}

void ChipHost::fail(const absl::Status& why) {
  const std::lock_guard lock(mutex_);
  if (failed_) failed_(why);
}

// False: stop() was called.
bool ChipHost::take_in() {
  std::deque<Work> work;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    work.swap(work_);
  }
  for (Work& each : work) {
    if (each.task) {
      each.task(group_.get());
    } else {
      inject(std::move(each.input), each.done);
    }
  }
  if (recorder_ != nullptr && !work.empty()) recorder_->flush();
  return true;
}

void ChipHost::inject(ChipInput input, const Told& done) {
  const absl::Status status = group_->check(input);
  if (status.ok()) {
    RecordedInput recorded{group_->rounds(), group_->boundary_ps(), std::move(input)};
    if (recorder_ != nullptr) recorder_->input(recorded);
    group_->inject(std::move(recorded.input)).IgnoreError();  // checked before it was recorded
  }
  if (done) done(status);
}

void ChipHost::hand_out() {
  std::vector<std::pair<Callback, ChipReply>> answered;
  {
    std::vector<ChipReply> replies = group_->take_replies();
    if (replies.empty()) return;
    const std::lock_guard lock(mutex_);
    for (ChipReply& reply : replies) {
      auto node = waiting_.extract(reply.id);
      waiting_bytes_ -= node.mapped().bytes;
      answered.emplace_back(std::move(node.mapped().callback), std::move(reply));
    }
  }
  for (const auto& [callback, reply] : answered) callback({reply.outcome, reply.slot, reply.payload});
}

// `even`: the time at which real time catches up with the end of the round in virtual time.
void ChipHost::wait(ChipGroup::Progress progress, Clock::time_point even) {
  std::unique_lock lock(mutex_);
  const auto has_work = [this] { return stopping_ || !work_.empty(); };
  if (progress == ChipGroup::Progress::kIdle) {
    work_arrived_.wait(lock, has_work);
  } else if (waiting_.empty() || group_->round_length_ps() >= kRoundMaxPs) {
    work_arrived_.wait_until(lock, even, has_work);
  }
}

// Refuses all requests and tasks, then waits for the destructor, since the pages may still be read.
void ChipHost::give_up() {
  std::unordered_map<std::uint64_t, Waiting> waiting;
  std::deque<Work> work;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    waiting.swap(waiting_);
    work.swap(work_);
    waiting_bytes_ = 0;
  }
  for (auto& [id, each] : waiting) each.callback({ReplicaReply::Outcome::kUnknown, Slot(), {}});
  for (const Work& each : work) refuse(each);
  std::unique_lock lock(mutex_);
  work_arrived_.wait(lock, [this] { return leaving_; });
}

}  // namespace ingot::services_scc
