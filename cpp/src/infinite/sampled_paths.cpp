#include "localmdi/infinite/sampled_paths.hpp"

#include <algorithm>
#include <numeric>

namespace localmdi::infinite {

using support::Stream;

namespace {

// Along random orders, where all features are categories.
class OrderFollower {
public:
    OrderFollower(const Sample& sample, const BitRows& rows, const PathRules& rules)
        : rows_(rows),
          gain_(sample),
          unseen_(rules.unseen),
          measure_(rules.measure),
          p_(sample.n_features),
          words_(rows.n_words()),
          order_(p_),
          at_(words_),
          below_(words_),
          value_(p_, 0.0) {
        root_ = rows.impurity(rows.all().data(), root_law_);
        gain_.to_law(root_law_.data(), root_law_.size());
    }

    void look_from(std::span<const std::int32_t> x, std::span<const double>) {
        rows_.match(x, matching_);
        const Word* const copies = matching_.data() + p_ * words_;
        known_ = std::any_of(copies, copies + words_, [](Word w) { return w != 0; });
    }

    // Sums of one chunk: values, squares, residual, support.
    void run(std::uint64_t seed, std::uint64_t first, std::uint64_t last, double* out) {
        for (std::uint64_t pair = first; pair < last; ++pair) {
            shuffle(seed, pair, order_);
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

// By random features and cuts, where some are numbers.
class CutFollower {
public:
    CutFollower(const Sample& sample, const PathRules& rules)
        : sample_(sample),
          numbers_(sample.numbers),
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

// make_follower() gives every thread what follows its paths.
template <class MakeFollower>
void follow_rows(const Sample& sample, const PathRows& x, const PathRange& range,
                 const PathSums& sums, std::size_t n_threads, Interrupt& interrupt,
                 MakeFollower make_follower) {
    const std::size_t p = sample.n_features, q = sample.numbers.n_columns;
    const std::size_t n_rows = p == 0 ? 0 : x.codes.size() / p;
    const PathTasks tasks{.n_rows = n_rows,
                          .first = range.first,
                          .count = range.count,
                          .chunk = kPairsPerChunk,
                          .width = PathSums::width(p)};
    const auto make_worker = [&] {
        return [&, follower = make_follower(), seen = n_rows](
                   std::size_t row, std::uint64_t first, std::uint64_t last, double* part) mutable {
            if (row != seen)
                follower.look_from(x.codes.subspan(row * p, p), x.numbers.subspan(row * q, q));
            seen = row;
            follower.run(range.seed, first, last, part);
        };
    };
    sum_paths(tasks, n_threads, interrupt, make_worker,
              [&](std::size_t row, const double* part) { sums.add(row, p, part); });
}

constexpr std::uint64_t kChunk = 8;  // pairs of paths; each looks at all pairs of features

class PairFollower {
public:
    PairFollower(const Sample& sample, const BitRows& rows, std::span<const std::int32_t> x)
        : rows_(rows),
          p_(sample.n_features),
          words_(rows.n_words()),
          order_(p_),
          both_(words_),
          value_(p_ * p_, 0.0) {
        rows.match(x, matching_);
    }

    void run(const PairRange& range, std::uint64_t first, std::uint64_t last, double* out) {
        for (std::uint64_t pair = first; pair < last; ++pair) {
            shuffle(range.seed, pair, order_);
            follow(range.index);
            std::reverse(order_.begin(), order_.end());
            follow(range.index);
            for (std::size_t k = 0; k < value_.size(); ++k) {
                const double mean = value_[k] / 2.0;
                out[k] += mean;
                out[value_.size() + k] += mean * mean;
            }
            std::fill(value_.begin(), value_.end(), 0.0);
        }
    }

private:
    void follow(PairIndex index) {
        at_ = rows_.all();
        double impurity = rows_.impurity(at_.data(), slots_);
        double shrunk = 1.0;  // product over the nodes above of r / (r - 1)
        double grown = 1.0;   // and of r / (r + 1)
        while (impurity != 0.0) {
            split();
            const auto r = static_cast<double>(features_.size());
            if (features_.empty()) return;
            if (features_.size() > 1) {
                const double weight = index == PairIndex::Shapley ? shrunk / (r - 1.0)
                                      : index == PairIndex::ShapleyTaylor
                                          ? 2.0 / r
                                          : 6.0 * (1.0 / r - grown / (r + 1.0));
                add_synergies(impurity, weight);
            }
            // The first feature of the order that splits the node is a uniform choice among them.
            const auto chosen =
                static_cast<std::size_t>(std::min_element(features_.begin(), features_.end(),
                                                          [&](std::size_t a, std::size_t b) {
                                                              return rank_[a] < rank_[b];
                                                          }) -
                                         features_.begin());
            impurity = below_impurity_[chosen];
            at_.assign(below_.begin() + static_cast<std::ptrdiff_t>(chosen * words_),
                       below_.begin() + static_cast<std::ptrdiff_t>((chosen + 1) * words_));
            shrunk *= r / std::max(r - 1.0, 1.0);
            grown *= r / (r + 1.0);
        }
    }

    // x's part of the node for every feature that splits it.
    void split() {
        rank_.resize(p_);
        for (std::uint32_t k = 0; k < p_; ++k) rank_[order_[k]] = k;
        features_.clear();
        below_.clear();
        below_impurity_.clear();
        for (std::size_t j = 0; j < p_; ++j) {
            Word lost = 0;
            for (std::size_t w = 0; w < words_; ++w) {
                both_[w] = at_[w] & matching_[j * words_ + w];
                lost |= at_[w] ^ both_[w];
            }
            if (lost == 0) continue;
            features_.push_back(j);
            below_.insert(below_.end(), both_.begin(), both_.end());
            below_impurity_.push_back(rows_.impurity(both_.data(), slots_));
        }
    }

    void add_synergies(double impurity, double weight) {
        for (std::size_t a = 0; a < features_.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                for (std::size_t w = 0; w < words_; ++w)
                    both_[w] = below_[a * words_ + w] & below_[b * words_ + w];
                const double synergy = below_impurity_[a] + below_impurity_[b] - impurity -
                                       rows_.impurity(both_.data(), slots_);
                value_[features_[a] * p_ + features_[b]] += weight * synergy;
            }
    }

    const BitRows& rows_;
    std::size_t p_, words_;
    std::vector<std::uint32_t> order_, rank_;
    std::vector<std::size_t> features_;
    std::vector<Word> matching_, at_, below_, both_;
    std::vector<double> value_, below_impurity_, slots_;
};

}  // namespace

void sample_paths(const Sample& sample, const PathRows& x, const PathRange& range,
                  const PathSums& sums, std::size_t n_threads, Interrupt& interrupt) {
    const auto follow = [&](auto make_follower) {
        follow_rows(sample, x, range, sums, n_threads, interrupt, make_follower);
    };
    if (sample.numbers.n_columns > 0)
        return follow([&] { return CutFollower(sample, range.rules); });
    const BitRows rows(sample);
    follow([&] { return OrderFollower(sample, rows, range.rules); });
}

void sample_pairs(const Sample& sample, std::span<const std::int32_t> x, const PairRange& range,
                  double* values, double* squares, std::size_t n_threads, Interrupt& interrupt) {
    const std::size_t size = sample.n_features * sample.n_features;
    const BitRows rows(sample);
    const PathTasks tasks{.n_rows = 1,
                          .first = range.first,
                          .count = range.count,
                          .chunk = kChunk,
                          .width = 2 * size};
    const auto make_worker = [&] {
        return [&range, follower = PairFollower(sample, rows, x)](
                   std::size_t, std::uint64_t first, std::uint64_t last, double* part) mutable {
            follower.run(range, first, last, part);
        };
    };
    sum_paths(tasks, n_threads, interrupt, make_worker, [&](std::size_t, const double* part) {
        for (std::size_t k = 0; k < size; ++k) {
            values[k] += part[k];
            squares[k] += part[size + k];
        }
    });
}

}  // namespace localmdi::infinite
