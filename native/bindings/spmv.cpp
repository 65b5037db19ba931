#include "spmv/spmv.hpp"

#include "arrays.hpp"

namespace kleene::bindings {
namespace {

template <class Form>
typename Form::Kind parse_form(std::string_view name) {
  using Kind = typename Form::Kind;
  if (name == "csc") return Kind::kCsc;
  if (name == "coo") return Kind::kCoo;
  if (name == "ell") return Kind::kEll;
  if (name == "dense") return Kind::kDense;
  return Kind::kCsr;
}

// Which arrays are there depends on the form: see MatrixForm. ELL ids and dense weights come flat.
void multiply(std::string_view semiring, std::string_view form,
              const std::optional<Offsets>& offsets, const AnyArray& ids,
              const OptionalArray& tails, const OptionalArray& weights, const nb::object& no_arc,
              const AnyArray& x, const AnyOutput& y, int threads) {
  const auto run = [&]<class Id, class T>(Type<Id>, Type<T>) {
    spmv::MatrixForm<Id, T> a{parse_form<spmv::MatrixForm<Id, T>>(form)};
    a.n = static_cast<std::int64_t>(y.size());
    a.arcs = static_cast<std::int64_t>(ids.size());
    a.width = a.n == 0 ? 0 : a.arcs / a.n;
    if (offsets) a.offsets = offsets->data();
    a.ids = data_of<Id>(ids);
    a.tails = data_of<Id>(tails);
    a.weights = data_of<T>(weights);
    a.no_arc = nb::cast<T>(no_arc);
    PythonMonitor monitor(nb::none(), a.n);
    const GilRelease release;
    spmv::multiply(parse_semiring(semiring), a, data_of<T>(x), data_of<T>(y), threads, monitor);
  };
  with_id_type(ids,
               [&](auto id) { with_value_type(x.dtype(), [&](auto value) { run(id, value); }); });
}

}  // namespace

void bind_spmv(nb::module_& m) {
  m.def("spmv", &multiply, nb::arg("semiring"), nb::arg("form"), nb::arg("offsets").none(),
        nb::arg("ids"), nb::arg("tails").none(), nb::arg("weights").none(), nb::arg("no_arc"),
        nb::arg("x"), nb::arg("y"), nb::arg("threads"));
}

}  // namespace kleene::bindings
