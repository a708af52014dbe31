// Active messages and groups in TACO's manner (papers, section 6): calls of methods on objects of other endpoints, and
// collective operations on groups of objects, over the transport of the host or of the simulated SCC.
//
//   ActiveMessages messages(*transport, endpoints, table);                // table: method_table.h, equal everywhere
//   GlobalPointer<Counter> mine = *messages.publish(counter);             // may travel as an argument or a result
//   messages.call(other, add, [](absl::StatusOr<int> sum) { ... }, 5);    // other: GlobalPointer<Counter>
//   messages.post(other, add, 5);                                         // one way: errors are not reported
//   messages.reduce(group, get, sum, [](absl::StatusOr<int> all) { ... });
//   ... poll() from the endpoint's loop: methods and callbacks run in there ...
//
// A method runs to its end on the loop of its object's endpoint, one at a time, and calls from one endpoint to another
// run in their order. It may call and post, but cannot wait. Errors come back as absl::Status: the method's own, and
//   NOT_FOUND            that endpoint has no such object (any more), or its table no such method
//   INVALID_ARGUMENT     the object or the arguments are of another type; no such endpoint; more than
//                        kActiveMessageBytesMax
//   RESOURCE_EXHAUSTED   a bound of group_limits.h was reached, here or on the way; an answer would be too long
//   UNAVAILABLE          an endpoint is gone (endpoint_gone); the call may have been executed
// Errors that call, post or a group operation return at once come with no callback. Every accepted call calls back
// once, in a later poll().
//
// Used by the thread of its endpoint's loop only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/types.h"
#include "transport/collectives/groups/method_table.h"
#include "transport/collectives/groups/object_group.h"
#include "transport/collectives/groups/requests.h"
#include "transport/pollable.h"

namespace ingot::inline transport_collectives_groups {

class ActiveMessages final : public Pollable {
 public:
  ActiveMessages(Transport& transport, int endpoints, const MethodTable& table);

  EndpointId self() const { return requests_.self(); }

  // ---- Objects ----

  // The object outlives this, or is withdrawn. Numbers are not reused. Errors: RESOURCE_EXHAUSTED (kObjectsMax).
  template <typename T>
  absl::StatusOr<GlobalPointer<T>> publish(T& object) {
    const auto number = publish_any(&object, typeid(T));
    if (!number.ok()) return number.status();
    return GlobalPointer<T>{{self(), *number}};
  }
  void withdraw(AnyPointer object);

  // ---- One object ----

  template <typename T, typename R, typename... Args>
  absl::Status call(GlobalPointer<T> object, Method<T, R, Args...> method, std::function<void(Answer<R>)> done,
                    const std::type_identity_t<Args>&... arguments) {
    return call_any(object, method.id, marshal<Args...>(arguments...), decoded<R>(std::move(done)));
  }

  template <typename T, typename R, typename... Args>
  absl::Status post(GlobalPointer<T> object, Method<T, R, Args...> method,
                    const std::type_identity_t<Args>&... arguments) {
    return call_any(object, method.id, marshal<Args...>(arguments...), nullptr);
  }

  // ---- Groups: down a binomial tree over the group's members, and back up ----
  //
  // Every member is called once, with the same arguments. The caller need not be a member. If calls fail, the callback
  // gets the error of the first failed member in the group's order, after all reached members have answered; the other
  // members' calls were executed.

  template <typename T, typename R, typename... Args>
  absl::Status map(const ObjectGroup<T>& group, Method<T, R, Args...> method, std::function<void(absl::Status)> done,
                   const std::type_identity_t<Args>&... arguments) {
    return call_group(GroupOperation::kMap, group.members(), method.id, 0, marshal<Args...>(arguments...),
                      decoded<void>(std::move(done)));
  }

  // All results, in the group's order.
  template <typename T, typename R, typename... Args>
  absl::Status gather(const ObjectGroup<T>& group, Method<T, R, Args...> method,
                      std::function<void(absl::StatusOr<std::vector<typename AnswerOf<R>::Value>>)> done,
                      const std::type_identity_t<Args>&... arguments) {
    using Value = typename AnswerOf<R>::Value;
    return call_group(GroupOperation::kGather, group.members(), method.id, 0, marshal<Args...>(arguments...),
                      [done = std::move(done)](absl::StatusOr<std::string_view> result) {
                        done(result.ok() ? read_all<Value>(*result) : result.status());
                      });
  }

  // The results, combined in the group's order. The bracketing depends only on the group's size.
  template <typename T, typename R, typename... Args>
  absl::Status reduce(const ObjectGroup<T>& group, Method<T, R, Args...> method,
                      Combiner<typename AnswerOf<R>::Value> combiner, std::function<void(Answer<R>)> done,
                      const std::type_identity_t<Args>&... arguments) {
    return call_group(GroupOperation::kReduce, group.members(), method.id, combiner.id, marshal<Args...>(arguments...),
                      decoded<R>(std::move(done)));
  }

  // ---- The loop ----

  int poll(std::uint64_t now_ns = 0) override;
  bool readable() override { return requests_.readable(); }
  std::uint64_t deadline_ns() const override { return retry_at_ns_; }
  // Peers for whose room messages wait. An ending loop polls until this is empty.
  std::vector<EndpointId> full_peers() const { return requests_.full_peers(); }
  bool unsent() const { return requests_.unsent(); }

  // The endpoint is dead. Not to be called from a method or callback.
  void endpoint_gone(EndpointId endpoint) { requests_.endpoint_gone(endpoint); }

  const Requests& requests() const { return requests_; }

 private:
  static constexpr std::uint64_t kRetryNs = 100'000;  // retry interval for a full channel

  enum class Kind : std::uint8_t { kCall, kGroup };
  struct Published {
    void* object;
    std::type_index type;
  };

  absl::StatusOr<std::uint32_t> publish_any(void* object, std::type_index type);
  absl::Status call_any(AnyPointer object, std::uint32_t method, std::string_view arguments, Requests::Done done);
  absl::Status call_group(GroupOperation operation, std::vector<AnyPointer> members, std::uint32_t method,
                          std::uint32_t combiner, std::string_view arguments, Requests::Done done);

  void serve(std::uint8_t kind, Requests::Caller caller, std::string_view body);
  absl::StatusOr<std::string> invoke(std::uint32_t object, std::uint32_t method, std::string_view arguments);
  void serve_group(Requests::Caller caller, std::string_view body);

  template <typename... Args>
  static std::string marshal(const Args&... arguments) {
    WireWriter out;
    (Marshal<Args>::write(out, arguments), ...);
    return out.take();
  }

  template <typename R>
  static Requests::Done decoded(std::function<void(Answer<R>)> done) {
    return [done = std::move(done)](absl::StatusOr<std::string_view> result) {
      if (!result.ok()) return done(result.status());
      using Value = typename AnswerOf<R>::Value;
      if constexpr (std::is_void_v<Value>) {
        done(absl::OkStatus());
      } else {
        WireReader in(*result);
        Value value = Marshal<Value>::read(in);
        if (!in.ok()) return done(absl::InternalError("the answer is not what the method returns"));
        done(std::move(value));
      }
    };
  }

  template <typename Value>
  static absl::StatusOr<std::vector<Value>> read_all(std::string_view results) {
    WireReader in(results);
    std::vector<Value> values;
    while (!in.failed() && in.remaining() > 0) {
      WireReader one(in.bytes());
      values.push_back(Marshal<Value>::read(one));
      if (!one.ok()) in.fail();
    }
    if (!in.ok()) return absl::InternalError("the answer is not what the methods return");
    return values;
  }

  const MethodTable& table_;
  Requests requests_;
  std::vector<Published> objects_;
  std::uint64_t retry_at_ns_ = kNever;
};

}  // namespace ingot::transport_collectives_groups
