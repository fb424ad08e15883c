#include "localmdi/infinite/sampled_cuts.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "localmdi/support/random.hpp"

namespace localmdi::infinite {
namespace {

constexpr std::uint64_t kChunk = 32;  // pairs per task: sums of tasks are added in order
constexpr std::size_t kPartsMemory = std::size_t{1} << 25;

// A stream of its own for every (seed, index), and its mirror with all bits turned over.
class Stream {
public:
    Stream(std::uint64_t seed, std::uint64_t index, bool mirror)
        : state_(support::mix(seed + support::mix(index + 1))),
          mask_(mirror ? ~std::uint64_t{0} : 0) {}

    std::uint32_t below(std::size_t n) {
        return support::below(static_cast<std::uint32_t>(n),
                              [this] { return static_cast<std::uint32_t>(next() >> 32); });
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    std::uint64_t next() {
        state_ += support::kGolden;
        return support::mix(state_) ^ mask_;
    }

    std::uint64_t state_, mask_;
};

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
    const std::size_t n_rows = x.codes.size() / p;
    const std::size_t n_chunks = (range.count + kChunk - 1) / kChunk;
    const std::size_t width = 2 * p + 2;
    const std::size_t n_tasks = n_rows * n_chunks;
    const std::size_t slice = std::max<std::size_t>(1, kPartsMemory / (width * sizeof(double)));
    std::vector<double> parts;
    for (std::size_t start = 0; start < n_tasks; start += slice) {
        const std::size_t count = std::min(slice, n_tasks - start);
        parts.assign(count * width, 0.0);
        support::parallel_for(count, n_threads, interrupt, [&] {
            auto follower = std::make_shared<CutFollower>(sample, numbers, range.rules);
            return [&, follower](std::size_t task) {
                const std::size_t row = (start + task) / n_chunks;
                const std::uint64_t chunk = (start + task) % n_chunks;
                follower->look_from(x.codes.subspan(row * p, p), x.numbers.subspan(row * q, q));
                const std::uint64_t end = std::min(range.count, (chunk + 1) * kChunk);
                follower->run(range.seed, range.first + chunk * kChunk, range.first + end,
                              parts.data() + task * width);
            };
        });
        for (std::size_t task = 0; task < count; ++task) {
            const std::size_t row = (start + task) / n_chunks;
            const double* const part = parts.data() + task * width;
            for (std::size_t j = 0; j < p; ++j) {
                sums.values[row * p + j] += part[j];
                sums.squares[row * p + j] += part[p + j];
            }
            sums.residual[row] += part[2 * p];
            sums.support[row] += part[2 * p + 1];
        }
    }
}

}  // namespace localmdi::infinite
