// The operator of a reduction: combines two vectors of elements.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "transport/collectives/schedule.h"

namespace ingot::inline transport_collectives {

// An operator over elements of one size. Payloads are divided at element boundaries only.
struct Reducer {
  std::size_t element_bytes = 0;  // 1 to kScheduleMessageBytesMax
  std::size_t alignment = 1;      // of the elements: a power of two, at most 64, that divides element_bytes
  Computation combine{};          // target[i] = target[i] o source[i], for whole elements
};

enum class ReduceOperation {
  kSum,      // integers modulo 2^bits
  kProduct,  // likewise
  kMin,      // of floating-point numbers: the left one if either is NaN
  kMax,      // likewise
  kAnd,      // bits; integers only, as the next two
  kOr,
  kXor,
};

// Integers of 8 to 64 bits, float and double.
template <typename T>
concept ReducibleElement =
    (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, float> || std::same_as<T, double>;

namespace reducers {

template <ReduceOperation kOperation, typename T>
constexpr T combine_elements(T left, T right) {
  // Sums and products of signed integers wrap: they are made of unsigned ones, which are not promoted to signed.
  if constexpr (kOperation == ReduceOperation::kSum) {
    if constexpr (std::integral<T>)
      return static_cast<T>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
    else return left + right;
  } else if constexpr (kOperation == ReduceOperation::kProduct) {
    if constexpr (std::integral<T>)
      return static_cast<T>(static_cast<std::uint64_t>(left) * static_cast<std::uint64_t>(right));
    else return left * right;
  } else if constexpr (kOperation == ReduceOperation::kMin) {
    return right < left ? right : left;
  } else if constexpr (kOperation == ReduceOperation::kMax) {
    return left < right ? right : left;
  } else if constexpr (kOperation == ReduceOperation::kAnd) {
    return static_cast<T>(left & right);
  } else if constexpr (kOperation == ReduceOperation::kOr) {
    return static_cast<T>(left | right);
  } else {
    return static_cast<T>(left ^ right);
  }
}

template <typename T, typename Combine>
void combine_vectors(std::span<std::byte> target, std::span<const std::byte> source, Combine combine) {
  T* const to = reinterpret_cast<T*>(target.data());
  const T* const from = reinterpret_cast<const T*>(source.data());
  const std::size_t elements = target.size() / sizeof(T);
  // Blocks of a constant length: at -O2 GCC vectorizes no other loop.
  constexpr std::size_t kBlock = 256 / sizeof(T) > 0 ? 256 / sizeof(T) : 1;
  std::size_t i = 0;
  for (; i + kBlock <= elements; i += kBlock) {
#pragma GCC ivdep
    for (std::size_t j = 0; j < kBlock; ++j) to[i + j] = combine(to[i + j], from[i + j]);
  }
  for (; i < elements; ++i) to[i] = combine(to[i], from[i]);
}

template <ReduceOperation kOperation, typename T>
void combine_builtin(const void*, std::span<std::byte> target, std::span<const std::byte> source) {
  combine_vectors<T>(target, source, combine_elements<kOperation, T>);
}

template <typename T, ReduceOperation kOperation>
constexpr Reducer builtin_reducer() {
  return {sizeof(T), alignof(T), {combine_builtin<kOperation, T>, nullptr}};
}

}  // namespace reducers

// A predefined operator. For floating-point numbers, kAnd, kOr and kXor do not exist: the reducer then has no function,
// and building a schedule from it fails.
template <ReducibleElement T>
Reducer reducer(ReduceOperation operation) {
  using enum ReduceOperation;
  using reducers::builtin_reducer;
  if constexpr (std::integral<T>) {
    if (operation == kAnd) return builtin_reducer<T, kAnd>();
    if (operation == kOr) return builtin_reducer<T, kOr>();
    if (operation == kXor) return builtin_reducer<T, kXor>();
  }
  switch (operation) {
    case kSum:
      return builtin_reducer<T, kSum>();
    case kProduct:
      return builtin_reducer<T, kProduct>();
    case kMin:
      return builtin_reducer<T, kMin>();
    case kMax:
      return builtin_reducer<T, kMax>();
    default:
      return {sizeof(T), alignof(T), {}};
  }
}

// A user's operator: `combine(left, right)` returns the combined element. It is associative; it need not be
// commutative, since operands keep their order (collectives.h). `combine` outlives all schedules made with it.
template <typename T, typename Combine>
  requires std::is_trivially_copyable_v<T> && std::is_invocable_r_v<T, const Combine&, const T&, const T&>
Reducer custom_reducer(const Combine& combine) {
  return {sizeof(T), alignof(T),
          {[](const void* context, std::span<std::byte> target, std::span<const std::byte> source) {
             reducers::combine_vectors<T>(target, source, *static_cast<const Combine*>(context));
           },
           &combine}};
}

}  // namespace ingot::transport_collectives
