// Random subsets of a given size, sorted: the rows of random graphs.
//
// A large subset is drawn into a bitmap, or its complement is, whichever is smaller; a small one
// into a list that is sorted and topped up until its members are distinct. Either way the work is
// proportional to the subset, not to what it is drawn from.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "generate/random.hpp"

namespace kleene::generate {

// Reuses its memory between subsets; one per thread.
template <class Id>
class SubsetSampler {
 public:
  // Writes a random subset of [0, universe), `size` members in increasing order, that has the
  // distinct members `required`.
  void sample(std::int64_t universe, std::int64_t size, std::span<const Id> required,
              const Stream& draws, Id* out) {
    // untestable (> to >=): both ways draw from the same distribution
    if (size > universe / kWord) {
      sample_by_bitmap(universe, size, required, draws, out);
    } else {
      sample_by_list(universe, size, required, draws, out);
    }
  }

 private:
  static constexpr std::int64_t kWord = 64;

  void sample_by_list(std::int64_t universe, std::int64_t size, std::span<const Id> required,
                      const Stream& draws, Id* out) {
    list_.assign(required.begin(), required.end());
    const auto bound = static_cast<std::uint64_t>(universe);
    std::uint64_t draw = 0;
    do {
      while (std::ssize(list_) < size) {
        list_.push_back(static_cast<Id>(below(draws[draw++], bound)));
      }
      std::sort(list_.begin(), list_.end());
      list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
    } while (std::ssize(list_) < size);
    std::copy(list_.begin(), list_.end(), out);
  }

  void sample_by_bitmap(std::int64_t universe, std::int64_t size, std::span<const Id> required,
                        const Stream& draws, Id* out) {
    bits_.assign(static_cast<std::size_t>((universe + kWord - 1) / kWord), 0);
    for (const Id member : required) insert(member);
    const std::int64_t wanted = size - std::ssize(required), unwanted = universe - size;
    // untestable (< to <=): which of two equal halves is drawn
    const bool inverted = unwanted < wanted;
    const auto bound = static_cast<std::uint64_t>(universe);
    std::int64_t left = std::min(wanted, unwanted);
    for (std::uint64_t draw = 0; left > 0; ++draw) left -= insert(below(draws[draw], bound));
    if (inverted) {  // what was drawn is what to leave out
      for (std::uint64_t& word : bits_) word = ~word;
      for (const Id member : required) insert(member);
      if (universe % kWord != 0) bits_.back() &= (std::uint64_t{1} << universe % kWord) - 1;
    }
    std::int64_t first = 0;
    for (std::uint64_t word : bits_) {
      for (; word != 0; word &= word - 1) *out++ = static_cast<Id>(first + std::countr_zero(word));
      first += kWord;
    }
  }

  // Returns whether the member is new.
  bool insert(std::uint64_t member) {
    std::uint64_t& word = bits_[member / kWord];
    const std::uint64_t bit = std::uint64_t{1} << member % kWord;
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }

  std::vector<std::uint64_t> bits_;
  std::vector<Id> list_;
};

}  // namespace kleene::generate
