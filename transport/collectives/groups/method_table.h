// Methods that endpoints may call on each other's objects, by name: the registered handlers of active messages.
//
//   MethodTable table;
//   const auto add = table.method("Counter.add", &Counter::add);      // Method<Counter, int, int>
//   const auto sum = table.combiner<int>("sum", [](int a, int b) { return a + b; });
//
// Every endpoint has a table with the same names and types. A method returns void, a plain value, a string, a vector of
// plain values, absl::Status, or absl::StatusOr of such a value; arguments are such values. Names travel as 32 bits.
//
// Thread safety: fill it first; then any number of endpoints, on any threads, may read it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/check.h"
#include "core/wire.h"
#include "transport/collectives/groups/marshal.h"

namespace ingot::inline transport_collectives_groups {

// The caller's result type: absl::Status for void and absl::Status, else absl::StatusOr<T>.
template <typename R>
struct AnswerOf {
  using Value = R;
  using Type = absl::StatusOr<R>;
};
template <>
struct AnswerOf<void> {
  using Value = void;
  using Type = absl::Status;
};
template <>
struct AnswerOf<absl::Status> : AnswerOf<void> {};
template <typename T>
struct AnswerOf<absl::StatusOr<T>> : AnswerOf<T> {};
template <typename R>
using Answer = typename AnswerOf<R>::Type;

// Handles, returned by a table. `R`: the method's return type.
template <typename T, typename R, typename... Args>
struct Method {
  std::uint32_t id = 0;
};
template <typename R>
struct Combiner {
  std::uint32_t id = 0;
};

class MethodTable {
 public:
  // Calls the method on an object with the arguments' bytes; returns the result's bytes, or the error.
  using Invoke = std::function<absl::StatusOr<std::string>(void* object, std::string_view arguments)>;
  using Combine = std::function<absl::StatusOr<std::string>(std::string_view left, std::string_view right)>;
  struct Entry {
    std::string name;
    std::type_index type;  // of the object
    Invoke invoke;
    Combine combine;  // exactly one of the two is set
  };

  // REQUIRES: no other entry has that name or the same id_of() (then choose another name).
  template <typename T, typename R, typename... Args>
  Method<T, std::decay_t<R>, std::decay_t<Args>...> method(std::string_view name, R (T::*function)(Args...)) {
    return bind<T, std::decay_t<R>, std::decay_t<Args>...>(name, function);
  }
  template <typename T, typename R, typename... Args>
  Method<T, std::decay_t<R>, std::decay_t<Args>...> method(std::string_view name, R (T::*function)(Args...) const) {
    return bind<T, std::decay_t<R>, std::decay_t<Args>...>(name, function);
  }

  // `function`: associative, R x R -> R. Operands come in the group's order.
  template <typename R, typename Function>
  Combiner<R> combiner(std::string_view name, Function function) {
    const auto combine = [function](std::string_view left, std::string_view right) -> absl::StatusOr<std::string> {
      WireReader in_left(left), in_right(right);
      R a = Marshal<R>::read(in_left), b = Marshal<R>::read(in_right);
      if (!in_left.ok() || !in_right.ok()) {
        return absl::InvalidArgumentError("the results are not those of the combiner");
      }
      return run<R>([&] { return function(std::move(a), std::move(b)); });
    };
    return {add({std::string(name), typeid(void), nullptr, combine})};
  }

  // Null: no such method.
  const Entry* find(std::uint32_t id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : &found->second;
  }

  // FNV-1a. 0 means no method.
  static std::uint32_t id_of(std::string_view name) {
    std::uint32_t hash = 2166136261u;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash == 0 ? 1 : hash;
  }

 private:
  template <typename T, typename R, typename... Args, typename Function>
  Method<T, R, Args...> bind(std::string_view name, Function function) {
    const auto invoke = [function](void* object, std::string_view arguments) -> absl::StatusOr<std::string> {
      WireReader in(arguments);
      std::tuple<Args...> values{Marshal<Args>::read(in)...};  // braces: from left to right
      if (!in.ok()) return absl::InvalidArgumentError("the arguments are not those of the method");
      const auto call = [&](auto&... value) { return (static_cast<T*>(object)->*function)(value...); };
      return run<R>([&] { return std::apply(call, values); });
    };
    return {add({std::string(name), typeid(T), invoke, nullptr})};
  }

  template <typename R, typename Call>
  static absl::StatusOr<std::string> run(Call&& call) {
    WireWriter out;
    if constexpr (std::is_void_v<R>) {
      call();
    } else if constexpr (std::is_same_v<R, absl::Status>) {
      if (absl::Status status = call(); !status.ok()) return status;
    } else if constexpr (!std::is_same_v<Answer<R>, R>) {
      Marshal<std::decay_t<R>>::write(out, call());
    } else {  // StatusOr
      R result = call();
      if (!result.ok()) return result.status();
      Marshal<typename AnswerOf<R>::Value>::write(out, *result);
    }
    return out.take();
  }

  std::uint32_t add(Entry entry) {
    const std::uint32_t id = id_of(entry.name);
    const bool is_new = entries_.emplace(id, std::move(entry)).second;
    INGOT_CHECK(is_new, "a method's name is taken, or its number: choose another");
    return id;
  }

  std::unordered_map<std::uint32_t, Entry> entries_;
};

}  // namespace ingot::transport_collectives_groups
