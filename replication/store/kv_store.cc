#include "replication/store/kv_store.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "core/stable_hash.h"
#include "replication/store/codec.h"
#include "replication/store/limits.h"
#include "replication/store/txn.h"
#include "replication/store/writer.h"

namespace ingot::kv {

std::string KvStore::apply(Slot slot, std::string_view command) {
  StepBudget steps;
  return *apply_some(slot, command, steps);
}

// Nothing that replicas agree on follows from the entries of the log that are dropped, so each call drops some.
std::optional<std::string> KvStore::apply_some(Slot, std::string_view command, StepBudget& steps) {
  const std::size_t changes_before = history_.changes().size();
  if (!under_way_) begin(command);
  const bool applied = go_on(steps);
  const std::size_t changes = history_.changes().size();
  history_.drop_changes(compacted_, kChangeLogStepEntries + std::max(changes, changes_before) - changes_before);
  if (!applied) return std::nullopt;
  std::string result = std::move(under_way_->result);
  under_way_.reset();
  return result;
}

void KvStore::begin(std::string_view command) {
  under_way_.emplace().held_before = history_.held();
  if (const std::optional<PutView> decoded = decode_put(command)) {  // nearly all commands
    under_way_->result = put(*decoded);
    return;
  }
  absl::StatusOr<Request> request = decode_request(command);
  Code code = request.ok() ? validate(*request) : Code::kMalformed;
  if (code == Code::kOk && no_space_ && has_puts(*request)) code = Code::kNoSpace;
  if (code != Code::kOk) {
    under_way_->result = failure(code);
  } else if (SlicedWrite::takes(*request)) {
    under_way_->writes = std::make_unique<SlicedWrite>(*std::move(request), history_, read_point(), quota_,
                                                        leases_);
  } else {
    under_way_->result = is_mutating(*request) ? write(*request) : read(*request);
  }
}

// At least as much is freed as was added, as long as anything waits: so what waits never grows.
bool KvStore::go_on(StepBudget& steps) {
  UnderWay& command = *under_way_;
  if (command.writes != nullptr) {
    if (!command.writes->go_on(steps)) return false;
    go_over(command.writes->result());
    command.result = encode(command.writes->result());
    command.writes.reset();
  }
  if (!command.frees) command.frees = {kCompactionStepVersions, history_.held() - command.held_before};
  return history_.compact_some(compacted_, *command.frees, steps, History::LastTombstones::kKeep);
}

void KvStore::go_over(const Result& result) {
  if (result.code == Code::kNoSpace) no_space_ = true;
  revision_ = result.revision;
}

std::string KvStore::query(std::string_view query) const {
  absl::StatusOr<Request> request = decode_request(query);
  if (!request.ok() || is_mutating(*request)) return failure(Code::kMalformed);
  const Code code = validate(*request);
  return code == Code::kOk ? read(*request) : failure(code);
}

std::string KvStore::failure(Code code) const {
  Result result;
  result.code = code;
  result.revision = revision_;
  return encode(result);
}

// ---- Mutating requests ----

std::string KvStore::put(const PutView& put) {
  Code code = validate(put);
  if (code == Code::kOk && no_space_) code = Code::kNoSpace;
  if (code != Code::kOk) return failure(code);
  Result result;
  Writer writer(history_, revision_, quota_, leases_);
  result.code = writer.put(put, result.body.emplace<PutResult>());
  result.revision = writer.revision();
  go_over(result);
  return encode(result);
}

// Of requests that SlicedWrite does not take; puts come decoded (put()).
std::string KvStore::write(Request& request) {
  if (changes_leases(request)) return write_leases(request);
  Result result;
  Writer writer(history_, revision_, quota_, leases_);
  if (const auto* alarm = std::get_if<AlarmRequest>(&request)) {
    result.body = change_alarm(alarm->action);
  } else {
    result.code = compact(std::get<CompactRequest>(request).revision);
    result.body = CompactResult{};
  }
  result.revision = writer.revision();
  go_over(result);
  return encode(result);
}

Code KvStore::compact(Revision revision) {
  if (revision <= compacted_) return Code::kCompacted;
  if (revision > revision_) return Code::kFutureRevision;
  compacted_ = revision;
  history_.release(compacted_);
  return Code::kOk;
}

void KvStore::begin_anew(Revision bump, bool compact) {
  leases_.begin_anew();
  revision_ += bump;
  if (compact) this->compact(revision_);
}

AlarmResult KvStore::change_alarm(AlarmRequest::Action action) {
  const bool stood = no_space_;
  no_space_ = action == AlarmRequest::Action::kActivate;
  return {no_space_ || stood};
}

// ---- Reads ----

std::string KvStore::read(Request& request) const {
  if (const auto* range = std::get_if<RangeRequest>(&request)) return read(*range);
  if (const auto* hash = std::get_if<HashRequest>(&request)) return read(*hash);
  if (std::holds_alternative<AlarmRequest>(request)) return read_alarm();
  if (const auto* events = std::get_if<EventsRequest>(&request)) return read(*events);
  if (const auto* live = std::get_if<LeaseTimeToLiveRequest>(&request)) return read(*live);
  if (const auto* leases = std::get_if<LeasesRequest>(&request)) return read(*leases);
  return read(std::get<TxnRequest>(request));
}

std::string KvStore::read_alarm() const {
  Result result;
  result.revision = revision_;
  result.body = AlarmResult{no_space_};
  return encode(result);
}

std::string KvStore::read(const RangeRequest& request) const {
  const Code code = check_revision(read_point(), request.revision);
  if (code != Code::kOk) return failure(code);
  const RangeAnswer answer(history_, request, read_point());
  if (answer.bytes() > kResultBytesMax) return failure(Code::kResultTooLarge);
  constexpr std::size_t kHeadBytes = 64;
  WireWriter out(kHeadBytes + answer.bytes());
  write_result_head(out, Code::kOk, revision_, Kind::kRange);
  answer.write(out, revision_);
  return out.take();
}

std::string KvStore::read(const EventsRequest& request) const {
  return EventsFound(history_, request, request.from, read_point()).write(read_point());
}

// What was looked at without finding anything is not looked at again.
class KvStore::StandingEvents final : public StandingQuery {
 public:
  StandingEvents(const KvStore& store, EventsRequest request)
      : store_(store), request_(std::move(request)), looked_to_(request_.from) {}

  std::optional<std::string> look(bool overdue) override {
    const ReadPoint point = store_.read_point();
    const bool asked = point.compacted != request_.known_compacted ||
                       (request_.at_least > 0 && point.current >= request_.at_least);
    const bool moved = looked_to_.revision <= point.current;
    if (!asked && !moved && !(overdue && request_.from < looked_to_)) return std::nullopt;
    const EventsFound found(store_.history_, request_, looked_to_, point);
    if (asked || overdue || !found.empty() || !found.complete(point)) return found.write(point);
    looked_to_ = found.next();
    return std::nullopt;
  }

 private:
  const KvStore& store_;
  const EventsRequest request_;
  EventPosition looked_to_;
};

std::unique_ptr<StandingQuery> KvStore::stand(std::string_view query) const {
  absl::StatusOr<Request> request = decode_request(query);
  if (!request.ok() || validate(*request) != Code::kOk) return nullptr;
  auto* events = std::get_if<EventsRequest>(&*request);
  return events == nullptr ? nullptr : std::make_unique<StandingEvents>(*this, std::move(*events));
}

std::string KvStore::read(const HashRequest& request) const {
  if (request.revision > 0 && request.revision < compacted_) return failure(Code::kCompacted);
  if (request.revision > revision_) return failure(Code::kFutureRevision);
  const History::HashPart part = history_.hash_part(request, read_point().meant_by(request.revision), compacted_);
  Result result;
  result.revision = revision_;
  result.body = HashResult{part.sum, compacted_, std::string(part.next_from), part.next_below};
  return encode(result);
}

std::string KvStore::read(TxnRequest& request) const {
  Result result;
  Writer writer(history_, revision_);
  StepBudget steps;
  result.code = *Txn(writer, read_point(), request, result.body.emplace<TxnResult>()).go_on(steps);
  result.revision = revision_;
  return encode(result);
}

namespace {

// The lowest revision that a range of either branch names; none: kNoRevision.
constexpr Revision kNoRevision = std::numeric_limits<Revision>::max();

Revision lowest_revision(const TxnRequest& txn) {
  Revision lowest = kNoRevision;
  for (const auto* branch : {&txn.success, &txn.failure}) {
    for (const Operation& operation : *branch) {
      if (const auto* range = std::get_if<RangeRequest>(&operation)) {
        if (range->revision > 0) lowest = std::min(lowest, range->revision);
      } else if (const auto* nested = std::get_if<std::shared_ptr<TxnRequest>>(&operation)) {
        lowest = std::min(lowest, lowest_revision(**nested));
      }
    }
  }
  return lowest;
}

}  // namespace

// Reads at the revision at which it has begun, and at older ones that its ranges name. What these can read is kept
// until a compaction comes above them.
class KvStore::ReadingTxn final : public QueryInSteps {
 public:
  ReadingTxn(const KvStore& store, TxnRequest request) : store_(store), request_(std::move(request)) {}

  std::optional<std::string> go_on(StepBudget& steps) override {
    if (!txn_ || lost()) {
      if (begun_++ > kTxnReadRestartsMax) return store_.failure(Code::kCompacted);
      begin();
    }
    const std::optional<Code> code = txn_->go_on(steps);
    if (!code) return std::nullopt;
    result_.code = *code;
    return encode(result_);
  }

 private:
  bool lost() const {
    return loads_ != store_.loads_ || (compacted_ != store_.compacted_ && oldest_ < store_.compacted_);
  }

  void begin() {
    loads_ = store_.loads_;
    compacted_ = store_.compacted_;
    oldest_ = std::min(store_.revision_, lowest_revision(request_));
    result_ = Result();
    result_.revision = store_.revision_;
    txn_.reset();
    writer_.emplace(store_.history_, store_.revision_);
    txn_.emplace(*writer_, store_.read_point(), request_, result_.body.emplace<TxnResult>());
  }

  const KvStore& store_;
  TxnRequest request_;
  int begun_ = 0;
  std::uint64_t loads_ = 0;  // the store's, when it began
  Revision compacted_ = -1;  // likewise
  Revision oldest_ = 0;      // that it reads
  Result result_;
  std::optional<Writer> writer_;
  std::optional<Txn> txn_;
};

std::unique_ptr<QueryInSteps> KvStore::query_in_steps(std::string_view query) const {
  if (query.empty() || static_cast<Kind>(query.front()) != Kind::kTxn) return nullptr;
  absl::StatusOr<Request> request = decode_request(query);
  if (!request.ok() || is_mutating(*request) || validate(*request) != Code::kOk) return nullptr;
  TxnRequest& txn = std::get<TxnRequest>(*request);
  return has_ranges(txn) ? std::make_unique<ReadingTxn>(*this, std::move(txn)) : nullptr;
}

// ---- Digest ----

std::uint64_t KvStore::digest_of(std::uint64_t history_digest, std::uint64_t leases_digest) const {
  std::uint64_t digest =
      mix(mix(history_digest, static_cast<std::uint64_t>(revision_)), static_cast<std::uint64_t>(compacted_));
  if (leases_digest != 0) digest = mix(digest, leases_digest);
  return no_space_ ? mix(digest, 1) : digest;
}

std::uint64_t KvStore::digest() const { return digest_of(history_.digest(), leases_.digest()); }
std::uint64_t KvStore::compute_digest() const {
  return digest_of(history_.compute_digest(), leases_.compute_digest());
}

}  // namespace ingot::kv
