#include <nanobind/stl/string.h>  // to return; as an argument it aborts when memory is out

#include <vector>

#include "arrays.hpp"
#include "graph/renumber.hpp"
#include "text/parse.hpp"
#include "text/write.hpp"

namespace kleene::bindings {
namespace {

using text::Text;

PyObject* bad_line_type = nullptr;

using Bytes = Array<std::uint8_t>;

Text as_text(const Bytes& bytes, std::int64_t begin, std::int64_t line, std::int64_t grain) {
  return {reinterpret_cast<const char*>(bytes.data()) + begin,
          static_cast<std::int64_t>(bytes.size()) - begin, line, grain};
}

// Runs without the GIL; a BadLine becomes the Python exception of that name, its offsets those of
// the whole text.
template <class Work>
auto parsed(std::int64_t begin, Work&& work) {
  std::optional<text::BadLine> bad;
  {
    GilRelease release;
    try {
      return work();
    } catch (const text::BadLine& caught) {
      bad = caught;
    }
  }
  const nb::object args = nb::make_tuple(bad->line, begin + bad->begin, begin + bad->end,
                                         std::string_view(bad->expected));
  PyErr_SetObject(bad_line_type, args.ptr());
  throw nb::python_error();
}

template <class... Buffers>
nb::object any_to_numpy(std::variant<Buffers...>&& buffer) {
  return std::visit([](auto&& held) { return to_numpy(std::move(held)); }, std::move(buffer));
}

nb::object to_bytes(Buffer<char>&& text, std::int64_t size) {
  char* data = text.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<char*>(p); });
  return nb::cast(NumpyArray<std::uint8_t>(data, {static_cast<std::size_t>(size)}, owner));
}

nb::object to_bytes(Buffer<char>&& text) {
  const std::int64_t size = text.size();
  return to_bytes(std::move(text), size);
}

nb::object to_list(std::vector<text::Lines>&& pieces) {
  nb::list list;
  for (text::Lines& piece : pieces) list.append(to_bytes(std::move(piece.text), piece.size));
  return list;
}

text::WeightKind parse_kind(std::string_view name) {
  return name == "integer" ? text::WeightKind::kInteger
         : name == "real"  ? text::WeightKind::kReal
                           : text::WeightKind::kAny;
}

text::Directions parse_directions(std::string_view name) {
  return name == "upward"     ? text::Directions::kUpward
         : name == "downward" ? text::Directions::kDownward
                              : text::Directions::kAll;
}

nb::object arcs(const Bytes& bytes, std::int64_t begin, std::int64_t line, std::int64_t grain,
                char separator, std::string_view comments, std::string_view tag, int source,
                int target, int weight, bool exact, std::string_view kind, std::int64_t low,
                std::int64_t high, std::int64_t base, bool names, int threads,
                const nb::object& progress) {
  const Text text = as_text(bytes, begin, line, grain);
  const text::Layout layout{separator,
                            std::string(comments),
                            tag.empty() ? '\0' : tag[0],
                            source,
                            target,
                            weight,
                            exact,
                            parse_kind(kind),
                            low,
                            high,
                            base};
  PythonMonitor monitor(progress, text.size);
  text::NamedArcs named = parsed(begin, [&] {
    return names ? text::parse_named_arcs(text, layout, threads, monitor)
                 : text::NamedArcs{text::parse_arcs(text, layout, threads, monitor), {}, {}};
  });
  return nb::make_tuple(any_to_numpy(std::move(named.arcs.tails)),
                        any_to_numpy(std::move(named.arcs.heads)),
                        any_to_numpy(std::move(named.arcs.weights)),
                        to_bytes(std::move(named.characters)), to_numpy(std::move(named.starts)));
}

nb::object rows(const Bytes& bytes, std::int64_t begin, std::int64_t line, std::int64_t grain,
                std::int64_t n, std::int64_t skipped, bool weighted, std::string_view comments,
                int threads, const nb::object& progress) {
  const Text text = as_text(bytes, begin, line, grain);
  PythonMonitor monitor(progress, text.size);
  text::Rows made = parsed(begin, [&] {
    return text::parse_rows(text, n, skipped, weighted, std::string(comments), threads, monitor);
  });
  return nb::make_tuple(to_numpy(std::move(made.offsets)), any_to_numpy(std::move(made.neighbors)),
                        any_to_numpy(std::move(made.weights)));
}

nb::object skip(const Bytes& bytes, std::int64_t begin, std::int64_t line,
                std::string_view comments) {
  const text::Place place =
      text::skip_comments(as_text(bytes, begin, line, 1), std::string(comments));
  return nb::make_tuple(begin + place.offset, place.line);
}

nb::object arcs_text(const Array<std::int64_t>& offsets, const AnyArray& neighbors,
                     const OptionalArray& weights, std::int64_t begin, std::int64_t end,
                     std::int64_t base, const std::optional<Array<std::int64_t>>& numbers,
                     const std::optional<Bytes>& characters,
                     const std::optional<Array<std::int64_t>>& starts, std::string_view prefix,
                     char separator, std::string_view constant, std::string_view directions,
                     int threads) {
  const text::VertexNames names{
      base, numbers ? numbers->data() : nullptr,
      characters ? reinterpret_cast<const char*>(characters->data()) : nullptr,
      starts ? starts->data() : nullptr};
  const text::LineStyle style{std::string(prefix), separator, std::string(constant),
                              parse_directions(directions)};
  PythonMonitor monitor(nb::none(), end - begin);
  return with_arcs(offsets, neighbors, weights, [&](const auto& graph) {
    std::vector<text::Lines> pieces;
    {
      GilRelease release;
      pieces = text::write_arcs(graph, begin, end, names, style, threads, monitor);
    }
    return to_list(std::move(pieces));
  });
}

nb::object rows_text(const Array<std::int64_t>& offsets, const AnyArray& neighbors,
                     const OptionalArray& weights, std::int64_t begin, std::int64_t end,
                     int threads) {
  PythonMonitor monitor(nb::none(), end - begin);
  return with_arcs(offsets, neighbors, weights, [&](const auto& graph) {
    std::vector<text::Lines> pieces;
    {
      GilRelease release;
      pieces = text::write_rows(graph, begin, end, threads, monitor);
    }
    return to_list(std::move(pieces));
  });
}

// None when the numbers are 0 .. span - 1 already.
nb::object renumbered(const AnyArray& sources, const AnyArray& targets, std::int64_t low,
                      std::int64_t span, int threads) {
  const auto arcs = static_cast<std::int64_t>(sources.size());
  PythonMonitor monitor(nb::none(), arcs);
  return with_id_type(sources, [&]<class InId>(Type<InId>) {
    const auto make = [&]<class Id>(Type<Id>) {
      graph::Renumbered<Id> made;
      {
        GilRelease release;
        made = graph::renumber<InId, Id>(arcs, static_cast<const InId*>(sources.data()),
                                         static_cast<const InId*>(targets.data()), low, span,
                                         threads, monitor);
      }
      if (made.sources.size() < arcs) return nb::object(nb::none());
      return nb::object(nb::make_tuple(to_numpy(std::move(made.sources)),
                                       to_numpy(std::move(made.targets)),
                                       to_numpy(std::move(made.numbers))));
    };
    return span > INT32_MAX ? make(Type<std::int64_t>{}) : make(Type<std::int32_t>{});
  });
}

}  // namespace

void bind_text(nb::module_& m) {
  bad_line_type = PyErr_NewException("kleene._native.BadLine", PyExc_ValueError, nullptr);
  m.attr("BadLine") = nb::borrow(bad_line_type);

  m.def("parse_arcs", &arcs, nb::arg("text"), nb::kw_only(), nb::arg("begin"), nb::arg("line"),
        nb::arg("grain"), nb::arg("separator"), nb::arg("comments"), nb::arg("tag"),
        nb::arg("source"), nb::arg("target"), nb::arg("weight"), nb::arg("exact"), nb::arg("kind"),
        nb::arg("low"), nb::arg("high"), nb::arg("base"), nb::arg("names"), nb::arg("threads"),
        nb::arg("progress").none());
  m.def("parse_rows", &rows, nb::arg("text"), nb::kw_only(), nb::arg("begin"), nb::arg("line"),
        nb::arg("grain"), nb::arg("n"), nb::arg("skipped"), nb::arg("weighted"),
        nb::arg("comments"), nb::arg("threads"), nb::arg("progress").none());
  m.def("skip_comments", &skip, nb::arg("text"), nb::kw_only(), nb::arg("begin"), nb::arg("line"),
        nb::arg("comments"));
  m.def("renumber", &renumbered, nb::arg("sources"), nb::arg("targets"), nb::arg("low"),
        nb::arg("span"), nb::arg("threads"));
  m.def("write_arcs", &arcs_text, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::kw_only(), nb::arg("begin"), nb::arg("end"), nb::arg("base"),
        nb::arg("numbers").none(), nb::arg("characters").none(), nb::arg("starts").none(),
        nb::arg("prefix"), nb::arg("separator"), nb::arg("constant"), nb::arg("directions"),
        nb::arg("threads"));
  m.def("write_rows", &rows_text, nb::arg("offsets"), nb::arg("neighbors"),
        nb::arg("weights").none(), nb::kw_only(), nb::arg("begin"), nb::arg("end"),
        nb::arg("threads"));
}

}  // namespace kleene::bindings
