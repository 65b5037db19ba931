#include "spmv.hpp"

#include "arrays.hpp"

namespace kleene {
namespace {

Algebra parse_algebra(const std::string& name) {
  if (name == "boolean") return Algebra::kBoolean;
  if (name == "max_min") return Algebra::kMaxMin;
  if (name == "max_times") return Algebra::kMaxTimes;
  if (name == "plus_times") return Algebra::kPlusTimes;
  return Algebra::kMinPlus;
}

template <class Form>
typename Form::Kind parse_form(const std::string& name) {
  using Kind = typename Form::Kind;
  if (name == "csc") return Kind::kCsc;
  if (name == "coo") return Kind::kCoo;
  if (name == "ell") return Kind::kEll;
  if (name == "dense") return Kind::kDense;
  return Kind::kCsr;
}

// Which arrays are there depends on the form: see MatrixForm. ELL ids and dense weights come flat.
template <class Id, class T>
void bind(nb::module_& m) {
  m.def(
      "spmv",
      [](const std::string& algebra, const std::string& form,
         const std::optional<Array<std::int64_t>>& offsets, const Array<Id>& ids,
         const std::optional<Array<Id>>& tails, const std::optional<Array<T>>& weights, T no_arc,
         const Array<T>& x, MutableArray<T> y, int threads) {
        MatrixForm<Id, T> a{parse_form<MatrixForm<Id, T>>(form)};
        a.n = static_cast<std::int64_t>(y.size());
        a.arcs = static_cast<std::int64_t>(ids.size());
        a.width = a.n == 0 ? 0 : a.arcs / a.n;
        if (offsets) a.offsets = offsets->data();
        a.ids = ids.data();
        if (tails) a.tails = tails->data();
        if (weights) a.weights = weights->data();
        a.no_arc = no_arc;
        PythonMonitor monitor(nb::none(), a.n);
        const nb::gil_scoped_release release;
        spmv(parse_algebra(algebra), a, x.data(), y.data(), threads, monitor);
      },
      nb::arg("algebra"), nb::arg("form"), nb::arg("offsets").none(), nb::arg("ids"),
      nb::arg("tails").none(), nb::arg("weights").none(), nb::arg("no_arc"), nb::arg("x"),
      nb::arg("y"), nb::arg("threads"));
}

template <class Id>
void bind_values(nb::module_& m) {
  bind<Id, float>(m);
  bind<Id, double>(m);
  bind<Id, std::int32_t>(m);
  bind<Id, std::int64_t>(m);
}

}  // namespace

void bind_spmv(nb::module_& m) {
  bind_values<std::int32_t>(m);
  bind_values<std::int64_t>(m);
}

}  // namespace kleene
