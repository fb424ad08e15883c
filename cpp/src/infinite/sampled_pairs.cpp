#include "localmdi/infinite/sampled_pairs.hpp"

#include <algorithm>
#include <memory>

#include "localmdi/infinite/permutations.hpp"

namespace localmdi::infinite {
namespace {

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
        auto follower = std::make_shared<PairFollower>(sample, rows, x);
        return [&range, follower](std::size_t, std::uint64_t first, std::uint64_t last,
                                  double* part) { follower->run(range, first, last, part); };
    };
    sum_paths(tasks, n_threads, interrupt, make_worker, [&](std::size_t, const double* part) {
        for (std::size_t k = 0; k < size; ++k) {
            values[k] += part[k];
            squares[k] += part[size + k];
        }
    });
}

}  // namespace localmdi::infinite
