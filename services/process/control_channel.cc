#include "services/process/control_channel.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace ingot {

namespace {

using Words = std::vector<absl::string_view>;

bool parse_life(const Words& words, std::size_t fds, ControlWord& word) {
  if (words.size() != 3 || fds < 1 || fds > 2) return false;
  word.kind = ControlWord::Kind::kLife;
  return absl::SimpleAtoi(words[1], &word.endpoint) && word.endpoint >= 0 &&
         absl::SimpleAtoi(words[2], &word.incarnation) && word.incarnation > 0;
}

bool parse_snapshot(const Words& words, std::size_t fds, ControlWord& word) {
  if (words.size() != 3 || fds != 1) return false;
  word.kind = ControlWord::Kind::kSnapshot;
  return absl::SimpleAtoi(words[1], &word.slot) && absl::SimpleAtoi(words[2], &word.incarnation);
}

bool parse_text(const std::string& text, std::size_t fds, ControlWord& word) {
  const Words words = absl::StrSplit(text, ' ');
  if (words[0] == "life") return parse_life(words, fds, word);
  if (words[0] == "snapshot") return parse_snapshot(words, fds, word);
  if (text == "drain") word.kind = ControlWord::Kind::kDrain;
  if (text == "leave") word.kind = ControlWord::Kind::kLeave;
  if (text == "describe") word.kind = ControlWord::Kind::kDescribe;
  if (text == "adopted") word.kind = ControlWord::Kind::kAdopted;
  return word.kind != ControlWord::Kind::kNone && fds == 0;
}

}  // namespace

ControlWord parse_control_word(ReceivedMessage message) {
  ControlWord word;
  if (message.outcome == ReceivedMessage::Outcome::kEnd) word.kind = ControlWord::Kind::kGone;
  if (message.outcome != ReceivedMessage::Outcome::kMessage) return word;
  if (!parse_text(message.text, message.fds.size(), word)) return ControlWord();
  word.fds = std::move(message.fds);
  return word;
}

void ControlChannel::say_ready() {
  // A supervisor that is gone shows up as the end of file; nothing else can be done about a failed send.
  send("ready").IgnoreError();
}

std::string failure_text(const absl::Status& why) {
  return absl::StrCat("failed ", static_cast<int>(why.code()), " ", why.message()).substr(0, kControlMessageBytesMax);
}

void ControlChannel::say_failed(const absl::Status& why) { send(failure_text(why)).IgnoreError(); }

}  // namespace ingot
