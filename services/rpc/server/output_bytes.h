// What a stream has to send: bytes that are added at the end and leave at the front.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/rpc/server/limits.h"
#include "services/rpc/wire/free_memory.h"

namespace ingot::rpc::inline server {

// Large pieces are taken over as they are, and each one's memory is freed when it has left: a long answer is neither
// copied as a whole nor kept until its last byte is read. Small ones are copied: each would cost more than its bytes. So
// no more than about twice size(), and one large piece, is kept. Not thread-safe.
class OutputBytes {
 public:
  std::size_t size() const { return pieces_bytes_ + last_.size() - taken_; }

  // For appending.
  std::string& back() { return last_; }

  void append_piece(std::string&& piece) {
    if (piece.size() < kCopiedPieceBytes) {
      last_.append(piece);
      return;
    }
    if (!last_.empty()) push(std::exchange(last_, {}));
    push(std::move(piece));
  }

  // Appends a copy of the first `bytes`, or of all if there are fewer.
  void copy_front(std::string& to, std::size_t bytes) const {
    bytes = std::min(bytes, size());
    std::size_t at = taken_;
    for (std::size_t piece = first_; bytes > 0; ++piece, at = 0) {
      const std::string& from = piece < pieces_.size() ? pieces_[piece] : last_;
      const std::size_t part = std::min(bytes, from.size() - at);
      to.append(from, at, part);
      bytes -= part;
    }
  }

  // REQUIRES: bytes <= size().
  void take(std::size_t bytes) {
    taken_ += bytes;
    while (first_ < pieces_.size() && taken_ >= pieces_[first_].size()) {
      taken_ -= pieces_[first_].size();
      pieces_bytes_ -= pieces_[first_].size();
      free_memory(pieces_[first_++]);
    }
    if (first_ >= kLeftPiecesMax && first_ > pieces_.size() / 2) {  // also of a stream that is never empty
      pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    if (size() == 0) {
      clear();
    } else if (first_ == pieces_.size() && taken_ > kWriteBytes && taken_ > last_.size() / 2) {
      last_.erase(0, taken_);
      taken_ = 0;
    }
  }

  // Forgets all behind the first `bytes`.
  void keep_front(std::size_t bytes) {
    std::string front;
    copy_front(front, bytes);
    clear();
    last_ = std::move(front);
  }

  void clear() {
    if (pieces_.capacity() != 0) std::vector<std::string>().swap(pieces_);
    first_ = pieces_bytes_ = taken_ = 0;
    last_.clear();
    if (last_.capacity() > kKeptCapacityBytes) free_memory(last_);
  }

 private:
  static constexpr std::size_t kCopiedPieceBytes = 1024;  // smaller pieces are copied
  static constexpr std::size_t kLeftPiecesMax = 32;       // pieces that have left and still have their place

  void push(std::string&& piece) {
    pieces_bytes_ += piece.size();
    pieces_.push_back(std::move(piece));
  }

  std::vector<std::string> pieces_;  // from first_ on; earlier ones have left
  std::size_t first_ = 0;
  std::size_t pieces_bytes_ = 0;  // of pieces_
  std::string last_;              // behind all pieces
  std::size_t taken_ = 0;         // of the first piece, or of last_ if there is none
};

}  // namespace ingot::rpc::server
