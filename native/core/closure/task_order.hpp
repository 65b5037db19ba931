// The order of the tiled method's tasks, and what each waits for.
//
// One list holds the tasks of all rounds. Threads take them in turn, and a thread that has taken
// one waits until its inputs are there. The inputs of a task stand before it in the list, so the
// first unfinished task never waits for long, and no barrier holds threads up between rounds.
//
// Round r, as the list has it:
//
//   1. update the rows of block r + 1;
//   2. close the diagonal of block r + 1: one thread, while the others go on;
//   3. update most of the other rows;
//   4. close the strips of block r + 1;
//   5. update the rest of the rows, so that round r + 1 finds the strips closed.
//
// In front of all rounds stand the diagonal and the strips of block 0. Rows are in items of equal
// height, strips in chunks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "parallel/monitor.hpp"
#include "parallel/team.hpp"

namespace kleene::closure {

struct Task {
  enum Kind { kNothing, kDiagonal, kStrips, kRows } kind;
  std::int64_t round;  // of the rows' update, or the block that is closed
  std::int64_t index;  // of an item, or of a chunk
};

class TaskOrder {
 public:
  // `per_block` items make a block; the last block may have fewer.
  TaskOrder(std::int64_t items, std::int64_t per_block, std::int64_t chunks, int threads)
      : items_(items),
        per_block_(per_block),
        chunks_(chunks),
        ahead_(std::min(items, per_block)),
        early_(items - ahead_ - late(items - ahead_, threads)) {}

  std::int64_t rounds() const { return (items_ + per_block_ - 1) / per_block_; }
  std::int64_t size() const { return items_ == 0 ? 0 : 1 + chunks_ + rounds() * round_size(); }
  std::int64_t chunks() const { return chunks_; }
  std::int64_t block_of(std::int64_t item) const { return item / per_block_; }
  std::int64_t block_begin(std::int64_t block) const {
    return std::min(items_, block * per_block_);
  }
  // Items that a round updates: all but those of its own block.
  std::int64_t updates(std::int64_t round) const {
    return items_ - (block_begin(round + 1) - block_begin(round));
  }

  Task at(std::int64_t i) const {
    if (i == 0) return {Task::kDiagonal, 0, 0};
    if (i <= chunks_) return {Task::kStrips, 0, i - 1};
    i -= 1 + chunks_;
    const std::int64_t round = i / round_size(), slot = i % round_size();
    if (slot < ahead_) return rows(round, slot);
    if (slot == ahead_) return of_next(Task::kDiagonal, round, 0);
    const std::int64_t rest = slot - ahead_ - 1;
    if (rest < early_) return rows(round, ahead_ + rest);
    if (rest < early_ + chunks_) return of_next(Task::kStrips, round, rest - early_);
    return rows(round, ahead_ + rest - chunks_);
  }

 private:
  // Items left for after the strips: none are needed by one thread alone.
  static std::int64_t late(std::int64_t others, int threads) {
    return threads == 1 ? 0 : std::min<std::int64_t>(others / 2, 2 * threads);
  }

  std::int64_t round_size() const { return items_ + 1 + chunks_; }

  // Items in a circle from the next block on; those of the round's own block come last.
  Task rows(std::int64_t round, std::int64_t place) const {
    if (place >= updates(round)) return {Task::kNothing, round, 0};
    const std::int64_t item = block_begin(round + 1) + place;
    return {Task::kRows, round, item < items_ ? item : item - items_};
  }

  Task of_next(Task::Kind kind, std::int64_t round, std::int64_t index) const {
    return {round + 1 < rounds() ? kind : Task::kNothing, round + 1, index};
  }

  const std::int64_t items_, per_block_, chunks_;
  const std::int64_t ahead_;  // items before the diagonal
  const std::int64_t early_;  // items between the diagonal and the strips
};

// What is done so far. A panel serves every other round, so the strips of a round also wait for the
// rows that read the panel before.
class TaskProgress {
 public:
  explicit TaskProgress(const TaskOrder& order, std::int64_t items)
      : order_(order),
        rounds_passed_(std::make_unique<std::atomic<std::int64_t>[]>(items)),
        strips_closed_(std::make_unique<std::atomic<std::int64_t>[]>(order.rounds())),
        rows_updated_(std::make_unique<std::atomic<std::int64_t>[]>(order.rounds())) {}

  bool ready(const Task& task) const {
    const std::int64_t round = task.round;
    switch (task.kind) {
      case Task::kDiagonal:
        for (std::int64_t i = order_.block_begin(round); i < order_.block_begin(round + 1); ++i) {
          if (!passed(i, round)) return false;
        }
        return true;
      case Task::kStrips:
        return diagonals_closed_.load(std::memory_order_acquire) > round &&
               (round < 2 || reached(rows_updated_[round - 2], order_.updates(round - 2)));
      case Task::kRows:
        return reached(strips_closed_[round], order_.chunks()) && passed(task.index, round);
      default:
        return true;
    }
  }

  void finish(const Task& task) {
    switch (task.kind) {
      case Task::kDiagonal:
        diagonals_closed_.store(task.round + 1, std::memory_order_release);
        return;
      case Task::kStrips:
        strips_closed_[task.round].fetch_add(1, std::memory_order_acq_rel);
        return;
      case Task::kRows:
        rounds_passed_[task.index].store(task.round + 1, std::memory_order_release);
        rows_updated_[task.round].fetch_add(1, std::memory_order_acq_rel);
        return;
      default:
        return;
    }
  }

 private:
  static bool reached(const std::atomic<std::int64_t>& counter, std::int64_t count) {
    return counter.load(std::memory_order_acquire) == count;
  }

  // Whether an item is through all rounds before this one. Its own block's round is among them when
  // that block's strips are closed, which they are when the diagonal of the next is.
  bool passed(std::int64_t item, std::int64_t round) const {
    if (order_.block_of(item) == round - 1) return true;
    return rounds_passed_[item].load(std::memory_order_acquire) >= round;
  }

  const TaskOrder& order_;
  const std::unique_ptr<std::atomic<std::int64_t>[]> rounds_passed_;  // by item
  const std::unique_ptr<std::atomic<std::int64_t>[]> strips_closed_;  // chunks, by round
  const std::unique_ptr<std::atomic<std::int64_t>[]> rows_updated_;   // items, by round
  std::atomic<std::int64_t> diagonals_closed_{0};
};

}  // namespace kleene::closure
