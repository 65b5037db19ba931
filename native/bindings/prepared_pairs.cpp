// Pairs of an eliminated graph: distances and paths, and trips on the best ones. The objects keep
// the arrays that they were made of alive, so that a call for one pair passes two numbers.
#include <array>
#include <memory>

#include "prepared.hpp"
#include "prepared/pairs/pairs.hpp"

namespace kleene::bindings {
namespace {

// ---- distances and paths ------------------------------------------------------------------------

using prepared::MinPlus;
using prepared::PairQueries;
using prepared::PairValues;

template <class Answer>
nb::object to_python(const void* answer) {
  return nb::cast(*static_cast<const Answer*>(answer));
}

nb::object to_python_bool(const void* answer) {
  return nb::cast(*static_cast<const std::uint8_t*>(answer) != 0);
}

class Queries {
 public:
  // `wide`: 64-bit answers from 32-bit values.
  Queries(nb::object tree, const Ids& order, const Ids& ranks, const AnyArray& up,
          const AnyArray& down, std::string_view semiring, bool negative, bool wide, int level)
      : tree_(std::move(tree)), order_(order), ranks_(ranks), up_(up), down_(down) {
    const auto& made = nb::cast<const ClimbTree&>(tree_);
    made.require_vertices(order);
    made.require_vertices(ranks);
    made.require_pairs(up);
    made.require_pairs(down);
    with_algebra(parse_semiring(semiring), up.dtype(), negative,
                 [&]<class Algebra>(Type<Algebra>) { make<Algebra>(made, negative, wide, level); });
  }

  void distances(const Ids& origins, const Ids& destinations, const AnyOutput& answers, int threads,
                 const nb::object& progress) const {
    const prepared::PairList pairs = list(origins, destinations);
    if (answers.dtype() != answer_type_ || answers.size() != origins.size()) raise_wrong_type();
    PythonMonitor monitor(progress, pairs.count);
    void* const out = answers.data();
    const GilRelease release;
    queries_->distances(pairs, out, threads, monitor);
    monitor.finish();
  }

  nb::object distance(std::int32_t origin, std::int32_t destination) const {
    alignas(8) std::array<char, 8> answer;
    PythonMonitor monitor(nb::none(), 1);
    {
      const GilRelease release;
      queries_->distances({&origin, &destination, 1}, answer.data(), 1, monitor);
    }
    return to_python_(answer.data());
  }

  // Before the first path, and before other threads know of the object.
  void set_middles(const Ids& up, const Ids& down) {
    if (up.size() != up_.size() || down.size() != up_.size()) raise_wrong_type();
    up_middles_ = up;
    down_middles_ = down;
    queries_->set_middles({up.data(), down.data()});
    has_middles_ = true;
  }

  nb::object paths(const Ids& origins, const Ids& destinations, int threads,
                   const nb::object& progress) const {
    if (!has_middles_) raise_wrong_type();
    const prepared::PairList pairs = list(origins, destinations);
    PythonMonitor monitor(progress, pairs.count);
    prepared::Walks walks;
    {
      const GilRelease release;
      walks = queries_->paths(pairs, threads, monitor);
      monitor.finish();
    }
    return nb::make_tuple(to_numpy(std::move(walks.vertices)), to_numpy(std::move(walks.offsets)));
  }

  nb::object path(std::int32_t origin, std::int32_t destination) const {
    if (!has_middles_) raise_wrong_type();
    PythonMonitor monitor(nb::none(), 1);
    prepared::Walks walks;
    {
      const GilRelease release;
      walks = queries_->paths({&origin, &destination, 1}, 1, monitor);
    }
    return to_numpy(std::move(walks.vertices));
  }

 private:
  template <class Algebra>
  void make(const ClimbTree& tree, bool negative, bool wide, int level) {
    using Value = typename Algebra::Value;
    const PairValues<Value> values{data_of<Value>(up_), data_of<Value>(down_)};
    const prepared::Numbering numbering{order_.data(), ranks_.data()};
    const auto make_for = [&]<class Answer>(Type<Answer>) {
      queries_ = prepared::pair_queries<Algebra, Answer>(tree.elimination, tree.tree, numbering,
                                                         values, negative, level);
      answer_type_ = nb::dtype<Answer>();
      to_python_ = std::is_same_v<Answer, std::uint8_t> ? to_python_bool : to_python<Answer>;
    };
    if constexpr (std::is_same_v<Algebra, MinPlus<std::int32_t, false>> ||
                  std::is_same_v<Algebra, MinPlus<std::int32_t, true>>) {
      if (wide) return make_for(Type<std::int64_t>{});
    }
    make_for(Type<Value>{});
  }

  static prepared::PairList list(const Ids& origins, const Ids& destinations) {
    if (origins.size() != destinations.size()) raise_wrong_type();
    return {origins.data(), destinations.data(), static_cast<std::int64_t>(origins.size())};
  }

  const nb::object tree_;
  const Ids order_, ranks_;
  const AnyArray up_, down_;
  Ids up_middles_, down_middles_;
  bool has_middles_ = false;
  std::unique_ptr<PairQueries> queries_;
  nb::dlpack::dtype answer_type_{};
  nb::object (*to_python_)(const void*) = nullptr;
};

// ---- trips --------------------------------------------------------------------------------------

using Flows = MutableArray<double>;

// Volumes are added to `up` and `down`, flows of pairs; `assigned`, one per trip, is filled.
void pair_flows(const ClimbTree& tree, const Ids& ranks, const AnyArray& up_values,
                const AnyArray& down_values, bool negative, const Ids& origins,
                const Ids& destinations, const Array<double>& volumes, const Flows& up,
                const Flows& down, const MutableArray<std::uint8_t>& assigned, int threads,
                const nb::object& progress, int level) {
  tree.require_vertices(ranks);
  tree.require_pairs(up_values);
  tree.require_pairs(down_values);
  tree.require_pairs(up);
  tree.require_pairs(down);
  const std::size_t count = origins.size();
  if (destinations.size() != count || volumes.size() != count || assigned.size() != count) {
    raise_wrong_type();
  }
  with_value_type(up_values.dtype(), [&]<class Value>(Type<Value>) {
    const prepared::PairValues<Value> values{data_of<Value>(up_values),
                                             data_of<Value>(down_values)};
    const prepared::PairList trips{origins.data(), destinations.data(),
                                   static_cast<std::int64_t>(count)};
    const prepared::PairFlows flows{up.data(), down.data()};
    PythonMonitor monitor(progress, trips.count);
    const auto run = [&]<class Algebra>(Type<Algebra>) {
      const GilRelease release;
      prepared::pair_flows<Algebra>(tree.elimination, tree.tree, ranks.data(), values, negative,
                                    trips, volumes.data(), flows, assigned.data(), threads, level,
                                    monitor);
      monitor.finish();
    };
    if constexpr (std::is_integral_v<Value>) {
      if (negative) return run(Type<prepared::MinPlus<Value, true>>{});
    }
    run(Type<prepared::MinPlus<Value, false>>{});
  });
}

// Leaves zeros in `up` and `down`; `flows`, one per arc of the graph, are added to.
void move_to_arcs(const ClimbTree& tree, const Ids& order, const Ids& up_middles,
                  const Ids& down_middles, const Flows& up, const Flows& down,
                  const Offsets& offsets, const Ids& neighbors, const Flows& flows) {
  tree.require_vertices(order);
  for (const Ids* middles : {&up_middles, &down_middles}) tree.require_pairs(*middles);
  for (const Flows* each : {&up, &down}) tree.require_pairs(*each);
  require_arcs(offsets, neighbors, flows);
  if (offsets.size() != order.size() + 1) raise_wrong_type();
  PythonMonitor monitor(nb::none(), 0);
  const GilRelease release;
  prepared::move_to_arcs(tree.elimination, {up_middles.data(), down_middles.data()}, order.data(),
                         {up.data(), down.data()}, {offsets.data(), neighbors.data()}, flows.data(),
                         monitor);
}

}  // namespace

void bind_prepared_pairs(nb::module_& m) {
  nb::class_<ClimbTree>(m, "ClimbTree")
      .def(nb::init<const Ids&, const Offsets&, const Ids&>(), nb::arg("parents"),
           nb::arg("offsets"), nb::arg("heads"));
  nb::class_<Queries>(m, "PairQueries")
      .def(nb::init<nb::object, const Ids&, const Ids&, const AnyArray&, const AnyArray&,
                    std::string_view, bool, bool, int>(),
           nb::arg("tree"), nb::arg("order"), nb::arg("ranks"), nb::arg("up"), nb::arg("down"),
           nb::arg("semiring"), nb::arg("negative"), nb::arg("wide"), nb::arg("level") = -1)
      .def("distances", &Queries::distances, nb::arg("origins"), nb::arg("destinations"),
           nb::arg("answers").noconvert(), nb::arg("threads"), nb::arg("progress").none())
      .def("distance", &Queries::distance, nb::arg("origin"), nb::arg("destination"))
      .def("set_middles", &Queries::set_middles, nb::arg("up"), nb::arg("down"))
      .def("paths", &Queries::paths, nb::arg("origins"), nb::arg("destinations"),
           nb::arg("threads"), nb::arg("progress").none())
      .def("path", &Queries::path, nb::arg("origin"), nb::arg("destination"));
  m.def("prepared_pair_flows", &pair_flows, nb::arg("tree"), nb::arg("ranks"), nb::arg("up_values"),
        nb::arg("down_values"), nb::arg("negative"), nb::arg("origins"), nb::arg("destinations"),
        nb::arg("volumes"), nb::arg("up").noconvert(), nb::arg("down").noconvert(),
        nb::arg("assigned").noconvert(), nb::arg("threads"), nb::arg("progress").none(),
        nb::arg("level") = -1);
  m.def("prepared_move_to_arcs", &move_to_arcs, nb::arg("tree"), nb::arg("order"),
        nb::arg("up_middles"), nb::arg("down_middles"), nb::arg("up").noconvert(),
        nb::arg("down").noconvert(), nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("flows").noconvert());
}

}  // namespace kleene::bindings
