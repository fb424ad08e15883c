#include "localmdi/shared_partition.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "localmdi/shapley_weights.hpp"

namespace localmdi {
namespace {

// Features in the order of the search: those that split rows most come first, so that lists shrink.
std::vector<std::size_t> order_features(const Sample& sample) {
    const std::size_t n = sample.n_rows();
    std::vector<double> together(sample.n_features, 0.0);
    for (std::size_t j = 0; j < sample.n_features; ++j) {
        std::vector<std::int32_t> column(n);
        for (std::size_t i = 0; i < n; ++i) column[i] = sample.row(i)[j];
        std::sort(column.begin(), column.end());
        for (std::size_t a = 0, b = 0; a < n; a = b) {
            while (b < n && column[b] == column[a]) ++b;
            together[j] += static_cast<double>((b - a) * (b - a));
        }
    }
    std::vector<std::size_t> order(sample.n_features);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return together[a] < together[b]; });
    return order;
}

// The rows that still matter at a set S, group after group.
struct Level {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> parent;     // place of the row in the level above
    std::vector<std::uint32_t> group_end;  // one per group
    std::vector<double> g;                 // impurity of the group minus that of the row itself
    std::vector<double> below;  // sum of u(|T|) g(T) over T = S and the sets searched from it
    void clear() {
        rows.clear();
        parent.clear();
        group_end.clear();
        g.clear();
    }
};

class Partition {
public:
    Partition(const Sample& sample, const Impurity& impurity, const std::vector<std::size_t>& order,
              Interrupt& interrupt)
        : sample_(sample),
          impurity_(impurity),
          interrupt_(interrupt),
          n_(sample.n_rows()),
          p_(sample.n_features),
          weight_(p_),
          levels_(p_ + 2),
          columns_(n_ * p_),
          end_(n_),
          values_(n_ * p_, 0.0),
          constant_(n_, 0.0),
          slots_(sample.n_slots) {
        const auto most = std::max_element(sample.codes.begin(), sample.codes.end());
        count_.resize(most == sample.codes.end() ? 2 : static_cast<std::size_t>(*most) + 2);
        for (std::size_t j = 0; j < p_; ++j)
            for (std::size_t i = 0; i < n_; ++i) columns_[j * n_ + i] = sample.row(i)[order[j]];
        for (std::size_t i = 0; i < n_; ++i) end_[i] = impurity_of({static_cast<std::uint32_t>(i)});
    }

    // The sets whose members among the first `bits` features are the bits of `task`.
    void run(std::size_t task, unsigned bits) {
        start();
        std::size_t depth = 0;
        for (std::size_t j = 0; j < bits; ++j)
            if (task >> j & 1) {
                refine(depth, j);
                ++depth;
            }
        search(depth, bits);
        const Level& level = levels_[depth];
        for (std::size_t j = 0; j < bits; ++j)
            if (task >> j & 1) take(level, j);
    }

    // Adds what was found; a lane's results are added in the order of the lanes.
    void add_to(double* values, const std::vector<std::size_t>& order) const {
        for (std::size_t j = 0; j < p_; ++j)
            for (std::size_t i = 0; i < n_; ++i)
                values[i * p_ + order[j]] += constant_[i] + values_[j * n_ + i];
    }

private:
    void start() {
        Level& top = levels_[0];
        top.clear();
        top.rows.resize(n_);
        std::iota(top.rows.begin(), top.rows.end(), 0u);
        top.parent = top.rows;
        top.group_end.assign(1, static_cast<std::uint32_t>(n_));
        const double all = impurity_of(top.rows);
        for (std::size_t i = 0; i < n_; ++i) top.g.push_back(all - end_[i]);
        if (is_trivial(top.rows.data(), top.rows.data() + n_)) top.clear();
    }

    // phi_m = sum_S w(|S|) g(S) - sum_{T with m} u(|T|) g(T), u(t) = w(t - 1) + w(t).
    void search(std::size_t depth, std::size_t first) {
        interrupt_.check();
        Level& level = levels_[depth];
        const std::size_t m = level.rows.size();
        level.below.resize(m);
        for (std::size_t k = 0; k < m; ++k) {
            level.below[k] = weight_.u(depth) * level.g[k];
            constant_[level.rows[k]] += weight_.w(depth) * level.g[k];
        }
        if (m == 0) return;
        for (std::size_t j = first; j < p_; ++j) {
            refine(depth, j);
            search(depth + 1, j + 1);
            const Level& child = levels_[depth + 1];
            take(child, j);
            for (std::size_t k = 0; k < child.rows.size(); ++k)
                level.below[child.parent[k]] += child.below[k];
        }
    }

    void take(const Level& level, std::size_t j) {
        double* const column = values_.data() + j * n_;
        for (std::size_t k = 0; k < level.rows.size(); ++k) column[level.rows[k]] -= level.below[k];
    }

    // Splits the groups of a level by feature j into the next level.
    void refine(std::size_t depth, std::size_t j) {
        const Level& from = levels_[depth];
        Level& to = levels_[depth + 1];
        to.clear();
        const std::int32_t* const column = columns_.data() + j * n_;
        std::uint32_t start = 0;
        for (const std::uint32_t stop : from.group_end) {
            split_group(from, to, column, start, stop);
            start = stop;
        }
    }

    void split_group(const Level& from, Level& to, const std::int32_t* column, std::uint32_t start,
                     std::uint32_t stop) {
        const std::uint32_t* const rows = from.rows.data();
        const std::int32_t first = column[rows[start]];
        std::uint32_t k = start + 1;
        while (k < stop && column[rows[k]] == first) ++k;
        if (k == stop) return copy_group(from, to, start, stop);
        if (stop - start == 2) return;  // two rows, now each alone
        sort_by_code(from, column, start, stop);
        for (std::uint32_t a = start, b = start; a < stop; a = b) {
            const std::int32_t code = column[rows[sorted_[a - start]]];
            while (b < stop && column[rows[sorted_[b - start]]] == code) ++b;
            if (b - a > 1) add_group(from, to, a - start, b - start);
        }
    }

    // sorted_: the places start .. stop by the code of their row; a counting sort, which keeps
    // order.
    void sort_by_code(const Level& from, const std::int32_t* column, std::uint32_t start,
                      std::uint32_t stop) {
        sorted_.resize(stop - start);
        std::iota(sorted_.begin(), sorted_.end(), start);
        const auto code_of = [&](std::uint32_t k) {
            return static_cast<std::size_t>(column[from.rows[k]]);
        };
        if (stop - start < count_.size() / 4) {
            std::sort(sorted_.begin(), sorted_.end(), [&](std::uint32_t a, std::uint32_t b) {
                return code_of(a) != code_of(b) ? code_of(a) < code_of(b) : a < b;
            });
            return;
        }
        std::fill(count_.begin(), count_.end(), 0u);
        for (std::uint32_t k = start; k < stop; ++k) ++count_[code_of(k) + 1];
        std::partial_sum(count_.begin(), count_.end(), count_.begin());
        for (std::uint32_t k = start; k < stop; ++k) sorted_[count_[code_of(k)]++] = k;
    }

    // A feature that is constant in a group changes nothing there.
    static void copy_group(const Level& from, Level& to, std::uint32_t start, std::uint32_t stop) {
        for (std::uint32_t k = start; k < stop; ++k) {
            to.rows.push_back(from.rows[k]);
            to.parent.push_back(k);
            to.g.push_back(from.g[k]);
        }
        to.group_end.push_back(static_cast<std::uint32_t>(to.rows.size()));
    }

    void add_group(const Level& from, Level& to, std::size_t a, std::size_t b) {
        group_.clear();
        for (std::size_t k = a; k < b; ++k) group_.push_back(from.rows[sorted_[k]]);
        if (is_trivial(group_.data(), group_.data() + group_.size())) return;
        const double here = impurity_of(group_);
        for (std::size_t k = a; k < b; ++k) {
            const std::uint32_t position = sorted_[k];
            to.rows.push_back(from.rows[position]);
            to.parent.push_back(position);
            to.g.push_back(here - end_[from.rows[position]]);
        }
        to.group_end.push_back(static_cast<std::uint32_t>(to.rows.size()));
    }

    bool is_trivial(const std::uint32_t* first, const std::uint32_t* last) const {
        if (last - first <= 1) return true;
        const std::int32_t label = sample_.label[*first];
        return label >= 0 &&
               std::all_of(first, last, [&](std::uint32_t i) { return sample_.label[i] == label; });
    }

    double impurity_of(const std::vector<std::uint32_t>& rows) {
        std::fill(slots_.begin(), slots_.end(), 0.0);
        for (const std::uint32_t i : rows) sample_.add_row(i, slots_.data());
        return impurity_(slots_.data(), slots_.size());
    }

    const Sample& sample_;
    const Impurity& impurity_;
    Interrupt& interrupt_;
    std::size_t n_, p_;
    ShapleyWeights weight_;
    std::vector<Level> levels_;
    std::vector<std::int32_t> columns_;
    std::vector<double> end_, values_, constant_, slots_;
    std::vector<std::uint32_t> sorted_, group_;
    std::vector<std::uint32_t> count_;  // one more than the largest number of categories
};

}  // namespace

void shared_partition(const Sample& sample, const Impurity& impurity, double* values,
                      std::size_t n_threads, Interrupt& interrupt) {
    // Tasks and lanes follow from the sizes alone, so that the number of threads changes no bit.
    constexpr std::size_t kLanes = 8;
    constexpr std::size_t kLaneMemory = std::size_t{1} << 25;
    const std::size_t size = sample.n_rows() * sample.n_features;
    const bool parallel = sample.n_features > 8 && size * sizeof(double) < kLaneMemory;
    const unsigned bits = parallel ? 6 : 0;
    const std::size_t lanes = parallel ? kLanes : 1;
    const std::vector<std::size_t> order = order_features(sample);
    std::vector<std::vector<double>> parts(lanes);
    parallel_for(lanes, n_threads, interrupt, [&] {
        return [&](std::size_t lane) {
            Partition partition(sample, impurity, order, interrupt);
            for (std::size_t task = lane; task >> bits == 0; task += lanes)
                partition.run(task, bits);
            parts[lane].assign(size, 0.0);
            partition.add_to(parts[lane].data(), order);
        };
    });
    std::fill(values, values + size, 0.0);
    for (const std::vector<double>& part : parts)
        for (std::size_t k = 0; k < size; ++k) values[k] += part[k];
}

double estimate_shared_partition(const Sample& sample) {
    constexpr int kSets = 32;
    const std::size_t n = sample.n_rows();
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    double visits = 0.0;
    std::vector<std::pair<std::uint64_t, std::int32_t>> keys(n);
    for (int k = 0; k < kSets; ++k) {
        for (std::size_t i = 0; i < n; ++i) keys[i] = {0, sample.label[i]};
        for (std::size_t j = 0; j < sample.n_features; ++j) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            if (state >> 63 == 0) continue;
            for (std::size_t i = 0; i < n; ++i) {
                const auto code = static_cast<std::uint64_t>(sample.row(i)[j]) + 1;
                keys[i].first = (keys[i].first + code) * 0x9e3779b97f4a7c15u;
                keys[i].first ^= keys[i].first >> 29;
            }
        }
        std::sort(keys.begin(), keys.end());
        for (std::size_t a = 0, b = 0; a < n; a = b) {
            while (b < n && keys[b].first == keys[a].first) ++b;
            const bool pure = keys[a].second >= 0 && keys[a].second == keys[b - 1].second;
            if (b - a > 1 && !pure) visits += static_cast<double>(b - a);
        }
    }
    return std::ldexp(1.0 + 2.0 * visits / kSets,
                      static_cast<int>(std::min<std::size_t>(sample.n_features, 1000)));
}

}  // namespace localmdi
