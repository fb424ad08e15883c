#include "localmdi/infinite/sampled_cuts.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "localmdi/support/random.hpp"

namespace localmdi::infinite {
namespace {

using support::Stream;

class CutFollower {
public:
    CutFollower(const Sample& sample, const Numbers& numbers, const PathRules& rules)
        : sample_(sample),
          numbers_(numbers),
          rules_(rules),
          impurity_(sample),
          gain_(sample),
          p_(sample.n_features),
          value_(p_, 0.0) {
        everything_.resize(sample.n_rows());
        std::iota(everything_.begin(), everything_.end(), 0u);
        root_ = add_up(everything_);
        root_law_ = slots_;
        gain_.to_law(root_law_.data(), root_law_.size());
    }

    void look_from(std::span<const std::int32_t> x, std::span<const double> x_numbers) {
        x_ = x;
        x_numbers_ = x_numbers;
    }

    // Sums of one chunk: values, squares, residual, support.
    void run(std::uint64_t seed, std::uint64_t first, std::uint64_t last, double* out) {
        for (std::uint64_t pair = first; pair < last; ++pair) {
            follow(Stream(seed, pair, false), out);
            follow(Stream(seed, pair, true), out);
            for (std::size_t j = 0; j < p_; ++j) {
                const double mean = value_[j] / 2.0;
                out[j] += mean;
                out[p_ + j] += mean * mean;
                value_[j] = 0.0;
            }
        }
    }

private:
    enum class Step : std::uint8_t { Constant, Empty, Smaller };

    void follow(Stream random, double* out) {
        at_ = everything_;
        law_ = root_law_;
        features_.resize(p_);
        std::iota(features_.begin(), features_.end(), 0u);
        double impurity = root_;
        bool supported = true;
        while (impurity != 0.0 && !features_.empty()) {
            const std::uint32_t place = random.below(features_.size());
            const std::uint32_t j = features_[place];
            const bool number = numbers_.is_number(j);
            const Step step = number ? cut(j, random) : match(j);
            if (!number || step == Step::Constant) {
                features_[place] = features_.back();
                features_.pop_back();
            }
            if (step == Step::Constant) continue;
            if (step == Step::Empty) {
                if (rules_.unseen == Unseen::Tree && !varies(j)) continue;
                supported = false;
                if (rules_.unseen == Unseen::Skip) continue;
                break;
            }
            at_.swap(below_);
            const double after = add_up(at_);
            value_[j] += amount(impurity, after);
            impurity = after;
        }
        out[2 * p_] += impurity / 2.0;
        out[2 * p_ + 1] += supported ? 0.5 : 0.0;
    }

    // x's part of the node under a random cut.
    Step cut(std::size_t j, Stream& random) {
        double low = numbers_(at_[0], j);
        double high = low;
        for (const std::uint32_t row : at_) {
            low = std::min(low, numbers_(row, j));
            high = std::max(high, numbers_(row, j));
        }
        if (low == high) return Step::Constant;
        double at = low + random.uniform() * (high - low);
        if (at >= high) at = low;  // rounded up; nothing may be left above
        const bool left = numbers_.of(x_numbers_, j) <= at;
        below_.clear();
        for (const std::uint32_t row : at_)
            if ((numbers_(row, j) <= at) == left) below_.push_back(row);
        return Step::Smaller;
    }

    // x's part of the node under an exhaustive split.
    Step match(std::size_t j) {
        below_.clear();
        for (const std::uint32_t row : at_)
            if (sample_.row(row)[j] == x_[j]) below_.push_back(row);
        if (below_.size() == at_.size()) return Step::Constant;
        return below_.empty() ? Step::Empty : Step::Smaller;
    }

    bool varies(std::size_t j) const {
        const std::int32_t first = sample_.row(at_[0])[j];
        return std::any_of(at_.begin(), at_.end(),
                           [&](std::uint32_t row) { return sample_.row(row)[j] != first; });
    }

    // slots_: the sums of the rows; returns their impurity, exactly 0 if they are pure.
    double add_up(const std::vector<std::uint32_t>& rows) {
        slots_.assign(sample_.n_slots, 0.0);
        bool pure = true;
        for (const std::uint32_t row : rows) {
            sample_.add_row(row, slots_.data());
            pure = pure && sample_.label[row] >= 0 && sample_.label[row] == sample_.label[rows[0]];
        }
        return pure ? 0.0 : impurity_(slots_.data(), slots_.size());
    }

    // Of the edge to the rows whose sums are in slots_; their law takes the place of the law above.
    double amount(double before, double after) {
        if (rules_.measure == Measure::drop) return before - after;
        gain_.to_law(slots_.data(), slots_.size());
        law_.swap(slots_);
        return gain_(slots_.data(), law_.data(), law_.size());
    }

    const Sample& sample_;
    const Numbers& numbers_;
    PathRules rules_;
    Impurity impurity_;
    Gain gain_;
    std::size_t p_;
    double root_ = 0.0;
    std::span<const std::int32_t> x_;
    std::span<const double> x_numbers_;
    std::vector<std::uint32_t> everything_, at_, below_, features_;
    std::vector<double> value_, slots_, law_, root_law_;
};

}  // namespace

void sample_cuts(const Sample& sample, const Numbers& numbers, const MixedRows& x,
                 const PathRange& range, const PathSums& sums, std::size_t n_threads,
                 Interrupt& interrupt) {
    const std::size_t p = sample.n_features;
    const std::size_t q = numbers.n_columns;
    const PathTasks tasks{.n_rows = x.codes.size() / p,
                          .first = range.first,
                          .count = range.count,
                          .chunk = kPairsPerChunk,
                          .width = PathSums::width(p)};
    const auto make_worker = [&] {
        auto follower = std::make_shared<CutFollower>(sample, numbers, range.rules);
        return
            [&, follower](std::size_t row, std::uint64_t first, std::uint64_t last, double* part) {
                follower->look_from(x.codes.subspan(row * p, p), x.numbers.subspan(row * q, q));
                follower->run(range.seed, first, last, part);
            };
    };
    sum_paths(tasks, n_threads, interrupt, make_worker,
              [&](std::size_t row, const double* part) { sums.add(row, p, part); });
}

}  // namespace localmdi::infinite
