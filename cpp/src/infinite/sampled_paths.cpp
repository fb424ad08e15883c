#include "localmdi/infinite/sampled_paths.hpp"

#include <algorithm>
#include <memory>

#include "localmdi/infinite/permutations.hpp"

namespace localmdi::infinite {
namespace {

class Follower {
public:
    Follower(const Sample& sample, const BitRows& rows, const PathRange& range)
        : rows_(rows),
          gain_(sample),
          unseen_(range.rules.unseen),
          measure_(range.rules.measure),
          p_(sample.n_features),
          words_(rows.n_words()),
          order_(p_),
          at_(words_),
          below_(words_),
          value_(p_, 0.0) {
        root_ = rows.impurity(rows.all().data(), root_law_);
        gain_.to_law(root_law_.data(), root_law_.size());
    }

    void look_from(std::span<const std::int32_t> x) {
        rows_.match(x, matching_);
        const Word* const copies = matching_.data() + p_ * words_;
        known_ = std::any_of(copies, copies + words_, [](Word w) { return w != 0; });
    }

    // Sums of one chunk: values, squares, residual, support.
    void run(const PathRange& range, std::uint64_t first, std::uint64_t last, double* out) {
        for (std::uint64_t pair = first; pair < last; ++pair) {
            shuffle(range.seed, pair, order_);
            follow(out);
            std::reverse(order_.begin(), order_.end());
            follow(out);
            for (const std::uint32_t j : touched_) {
                const double mean = value_[j] / 2.0;
                out[j] += mean;
                out[p_ + j] += mean * mean;
                value_[j] = 0.0;
            }
            touched_.clear();
        }
    }

private:
    void follow(double* out) {
        at_ = rows_.all();
        law_ = root_law_;
        double impurity = root_;
        bool supported = true;
        for (std::size_t k = 0; k < p_ && !is_end(impurity); ++k) {
            const std::uint32_t j = order_[k];
            const Step step = advance(j);
            if (step == Step::Same) continue;
            if (step == Step::Empty) {
                if (unseen_ == Unseen::Tree && !rows_.varies(at_.data(), j)) continue;
                supported = false;
                if (unseen_ == Unseen::Skip) continue;
                break;
            }
            const double after = rows_.impurity(below_.data(), slots_);
            if (value_[j] == 0.0) touched_.push_back(j);
            value_[j] += amount(impurity, after);
            impurity = after;
            at_.swap(below_);
        }
        out[2 * p_] += impurity / 2.0;
        out[2 * p_ + 1] += supported ? 0.5 : 0.0;
    }

    // Of the edge to the rows whose sums are in slots_; their law takes the place of the law above.
    double amount(double before, double after) {
        if (measure_ == Measure::drop) return before - after;
        gain_.to_law(slots_.data(), slots_.size());
        law_.swap(slots_);
        return gain_(slots_.data(), law_.data(), law_.size());
    }

    // Pure, or only copies of x: no feature can change anything below.
    bool is_end(double impurity) const {
        if (impurity == 0.0) return true;
        if (!known_) return false;
        const Word* const copies = matching_.data() + p_ * words_;
        for (std::size_t w = 0; w < words_; ++w)
            if (at_[w] & ~copies[w]) return false;
        return true;
    }

    enum class Step : std::uint8_t { Same, Empty, Smaller };

    Step advance(std::uint32_t j) {
        const Word* const match = matching_.data() + j * words_;
        Word lost = 0;
        Word left = 0;
        for (std::size_t w = 0; w < words_; ++w) {
            below_[w] = at_[w] & match[w];
            left |= below_[w];
            lost |= at_[w] ^ below_[w];
        }
        return lost == 0 ? Step::Same : left == 0 ? Step::Empty : Step::Smaller;
    }

    const BitRows& rows_;
    Gain gain_;
    Unseen unseen_;
    Measure measure_;
    std::size_t p_, words_;
    bool known_ = false;
    double root_ = 0.0;
    std::vector<std::uint32_t> order_, touched_;
    std::vector<Word> matching_, at_, below_;
    std::vector<double> value_, slots_, law_, root_law_;
};

}  // namespace

void sample_paths(const Sample& sample, std::span<const std::int32_t> x, const PathRange& range,
                  const PathSums& sums, std::size_t n_threads, Interrupt& interrupt) {
    const std::size_t p = sample.n_features;
    const std::size_t n_rows = p == 0 ? 0 : x.size() / p;
    const BitRows rows(sample);
    const PathTasks tasks{.n_rows = n_rows,
                          .first = range.first,
                          .count = range.count,
                          .chunk = kPairsPerChunk,
                          .width = PathSums::width(p)};
    const auto make_worker = [&] {
        auto follower = std::make_shared<Follower>(sample, rows, range);
        return [&, follower, seen = n_rows](std::size_t row, std::uint64_t first,
                                            std::uint64_t last, double* part) mutable {
            if (row != seen) follower->look_from(x.subspan(row * p, p));
            seen = row;
            follower->run(range, first, last, part);
        };
    };
    sum_paths(tasks, n_threads, interrupt, make_worker,
              [&](std::size_t row, const double* part) { sums.add(row, p, part); });
}

}  // namespace localmdi::infinite
