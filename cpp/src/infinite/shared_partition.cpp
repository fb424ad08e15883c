#include "localmdi/infinite/shared_partition.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "localmdi/infinite/sampled_paths.hpp"

namespace localmdi::infinite {
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

// A sum of very many terms that keeps what rounding loses (Kahan).
struct Sum {
    double value = 0.0;
    double lost = 0.0;

    void add(double term) {
        const double corrected = term - lost;
        const double next = value + corrected;
        lost = (next - value) - corrected;
        value = next;
    }
};

// A row that still matters at a set S.
struct Item {
    std::uint32_t row;
    std::uint32_t parent;  // its place in the level above
    double g;              // impurity of its group minus that of the row itself
    double below;          // sum of u(|T|) g(T) over T = S and the sets searched from S
};

// The rows of a set S, group after group.
struct Level {
    std::vector<Item> items;
    std::vector<std::uint32_t> group_end;

    void clear() {
        items.clear();
        group_end.clear();
    }
    void close_group() { group_end.push_back(static_cast<std::uint32_t>(items.size())); }
};

class Partition {
public:
    Partition(const Sample& sample, const Impurity& impurity, Measure measure,
              const std::vector<std::size_t>& order, Interrupt& interrupt)
        : sample_(sample),
          impurity_(impurity),
          gain_(sample),
          measure_(measure),
          interrupt_(interrupt),
          n_(sample.n_rows()),
          p_(sample.n_features),
          weight_(p_),
          levels_(p_ + 2),
          columns_(n_ * p_),
          end_(n_),
          slots_(sample.n_slots),
          values_(n_ * p_),
          constant_(n_),
          known_(p_, false),
          place_(sample.n_slots, 0) {
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
        for (std::size_t j = 0; j < bits; ++j) {
            known_[j] = task >> j & 1;
            if (known_[j]) refine(depth++, j);
        }
        if (measure_ == Measure::gain) return search_edges(depth, bits);
        search(depth, bits);
        const Level& level = levels_[depth];
        for (std::size_t j = 0; j < bits; ++j)
            if (task >> j & 1) take(level, j);
    }

    // Adds what was found; a lane's results are added in the order of the lanes.
    void add_to(double* values, const std::vector<std::size_t>& order) const {
        for (std::size_t j = 0; j < p_; ++j)
            for (std::size_t i = 0; i < n_; ++i)
                values[i * p_ + order[j]] += constant_[i].value + values_[j * n_ + i].value;
    }

    std::uint64_t visits() const { return visits_; }

private:
    void start() {
        Level& top = levels_[0];
        top.clear();
        group_.resize(n_);
        std::iota(group_.begin(), group_.end(), 0u);
        if (is_trivial(group_)) return;
        const double all = impurity_of(group_);
        for (const std::uint32_t i : group_) top.items.push_back({i, i, all - end_[i], 0.0});
        top.close_group();
    }

    // phi_m = sum_S w(|S|) g(S) - sum_{T with m} u(|T|) g(T), u(t) = w(t - 1) + w(t).
    void search(std::size_t depth, std::size_t first) {
        interrupt_.check();
        Level& level = levels_[depth];
        visits_ += level.items.size();
        for (Item& item : level.items) {
            item.below = weight_.u(depth) * item.g;
            constant_[item.row].add(weight_.w(depth) * item.g);
        }
        if (level.items.empty()) return;
        for (std::size_t j = first; j < p_; ++j) {
            refine(depth, j);
            search(depth + 1, j + 1);
            const Level& child = levels_[depth + 1];
            take(child, j);
            for (const Item& item : child.items) level.items[item.parent].below += item.below;
        }
    }

    void take(const Level& level, std::size_t j) {
        Sum* const column = values_.data() + j * n_;
        for (const Item& item : level.items) column[item.row].add(-item.below);
    }

    // Adds w(|S|) times the gain of S → S + m for every m that is not in S.
    void search_edges(std::size_t depth, std::size_t first) {
        interrupt_.check();
        const Level& level = levels_[depth];
        if (level.items.empty()) return;
        std::uint32_t start = 0;
        for (const std::uint32_t stop : level.group_end) {
            leave_group(level, start, stop);
            for (std::size_t j = 0; j < p_; ++j)
                if (!known_[j]) add_gains(level, j, start, stop, weight_.w(depth));
            start = stop;
        }
        for (std::size_t j = first; j < p_; ++j) {
            refine(depth, j);
            known_[j] = true;
            search_edges(depth + 1, j + 1);
            known_[j] = false;
        }
    }

    // parent_: the law of a group, by the slots that occur; place_: where each of these is.
    void leave_group(const Level& level, std::uint32_t start, std::uint32_t stop) {
        group_.clear();
        for (std::uint32_t k = start; k < stop; ++k) group_.push_back(level.items[k].row);
        add_up(group_, parent_);
        for (std::size_t c = 0; c < present_.size(); ++c) place_[present_[c]] = c;
        gain_.to_law(parent_.data(), parent_.size());
    }

    void add_gains(const Level& level, std::size_t j, std::uint32_t start, std::uint32_t stop,
                   double weight) {
        const std::int32_t* const column = columns_.data() + j * n_;
        const auto code_at = [&](std::uint32_t k) { return column[level.items[k].row]; };
        visits_ += stop - start;
        if (is_constant(level, column, start, stop)) return;
        sort_by_code(level, column, start, stop);
        for (std::size_t a = 0, b = 0; a < sorted_.size(); a = b) {
            child_.assign(parent_.size(), 0.0);
            const std::int32_t code = code_at(sorted_[a]);
            for (; b < sorted_.size() && code_at(sorted_[b]) == code; ++b)
                add_to_child(level.items[sorted_[b]].row);
            gain_.to_law(child_.data(), child_.size());
            const double term = weight * gain_(parent_.data(), child_.data(), parent_.size());
            for (std::size_t k = a; k < b; ++k)
                values_[j * n_ + level.items[sorted_[k]].row].add(term);
        }
    }

    void add_to_child(std::uint32_t row) {
        for (auto e = static_cast<std::size_t>(sample_.entry_offset[row]);
             e < static_cast<std::size_t>(sample_.entry_offset[row + 1]); ++e)
            child_[place_[static_cast<std::size_t>(sample_.entry_slot[e])]] +=
                sample_.entry_weight[e];
    }

    static bool is_constant(const Level& level, const std::int32_t* column, std::uint32_t start,
                            std::uint32_t stop) {
        const std::int32_t first = column[level.items[start].row];
        std::uint32_t k = start + 1;
        while (k < stop && column[level.items[k].row] == first) ++k;
        return k == stop;
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
        const auto code_at = [&](std::uint32_t k) { return column[from.items[k].row]; };
        visits_ += stop - start;
        if (is_constant(from, column, start, stop)) return copy_group(from, to, start, stop);
        if (stop - start == 2) return;  // two rows, now each alone
        sort_by_code(from, column, start, stop);
        for (std::size_t a = 0, b = 0; a < sorted_.size(); a = b) {
            const std::int32_t code = code_at(sorted_[a]);
            while (b < sorted_.size() && code_at(sorted_[b]) == code) ++b;
            if (b - a > 1) add_group(from, to, a, b);
        }
    }

    // sorted_: the places start .. stop by the code of their row; a counting sort, which keeps
    // order.
    void sort_by_code(const Level& from, const std::int32_t* column, std::uint32_t start,
                      std::uint32_t stop) {
        sorted_.resize(stop - start);
        const auto code_of = [&](std::uint32_t k) {
            return static_cast<std::size_t>(column[from.items[k].row]);
        };
        if (stop - start < count_.size() / 4) {
            std::iota(sorted_.begin(), sorted_.end(), start);
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
        for (std::uint32_t k = start; k < stop; ++k)
            to.items.push_back({from.items[k].row, k, from.items[k].g, 0.0});
        to.close_group();
    }

    void add_group(const Level& from, Level& to, std::size_t a, std::size_t b) {
        group_.clear();
        for (std::size_t k = a; k < b; ++k) group_.push_back(from.items[sorted_[k]].row);
        if (is_trivial(group_)) return;
        const double here = impurity_of(group_);
        for (std::size_t k = a; k < b; ++k)
            to.items.push_back({group_[k - a], sorted_[k], here - end_[group_[k - a]], 0.0});
        to.close_group();
    }

    bool is_trivial(const std::vector<std::uint32_t>& rows) const {
        const std::int32_t label = sample_.label[rows[0]];
        const auto same = [&](std::uint32_t i) { return sample_.label[i] == label; };
        return rows.size() == 1 || (label >= 0 && std::all_of(rows.begin(), rows.end(), same));
    }

    double impurity_of(const std::vector<std::uint32_t>& rows) {
        add_up(rows, occurring_);
        return impurity_(occurring_.data(), occurring_.size());
    }

    // The sums of the slots in present_. Only those that occur are visited: most groups are small
    // and classes may be many. The slots of the variance have fixed places.
    void add_up(const std::vector<std::uint32_t>& rows, std::vector<double>& sums) {
        const bool fixed = sample_.criterion == Criterion::variance;
        present_.clear();
        if (fixed) present_ = {0, 1, 2};
        for (const std::uint32_t i : rows)
            for (auto e = static_cast<std::size_t>(sample_.entry_offset[i]);
                 e < static_cast<std::size_t>(sample_.entry_offset[i + 1]); ++e) {
                const auto slot = static_cast<std::size_t>(sample_.entry_slot[e]);
                if (!fixed && slots_[slot] == 0.0) present_.push_back(slot);
                slots_[slot] += sample_.entry_weight[e];
            }
        sums.clear();
        for (const std::size_t slot : present_) {
            sums.push_back(slots_[slot]);
            slots_[slot] = 0.0;
        }
    }

    const Sample& sample_;
    const Impurity& impurity_;
    Gain gain_;
    Measure measure_;
    Interrupt& interrupt_;
    std::size_t n_, p_;
    ShapleyWeights weight_;
    std::vector<Level> levels_;
    std::vector<std::int32_t> columns_;
    std::vector<double> end_, slots_, occurring_, parent_, child_;
    std::vector<Sum> values_, constant_;
    std::vector<bool> known_;  // the features of S
    std::vector<std::size_t> present_, place_;
    std::vector<std::uint32_t> sorted_, group_;
    std::vector<std::uint32_t> count_;  // one more than the largest number of categories
    std::uint64_t visits_ = 0;
};

// Rows that neither stand alone nor in a pure group when some features are known.
double count_listed(const Sample& sample, std::span<const std::uint32_t> features) {
    const std::size_t n = sample.n_rows();
    std::vector<std::pair<std::uint64_t, std::int32_t>> keys(n);
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t key = 0;
        for (const std::uint32_t j : features) {
            key = (key + static_cast<std::uint64_t>(sample.row(i)[j]) + 1) * 0x9e3779b97f4a7c15u;
            key ^= key >> 29;
        }
        keys[i] = {key, sample.label[i]};
    }
    std::sort(keys.begin(), keys.end());
    double listed = 0.0;
    for (std::size_t a = 0, b = 0; a < n; a = b) {
        while (b < n && keys[b].first == keys[a].first) ++b;
        const bool pure = keys[a].second >= 0 && keys[a].second == keys[b - 1].second;
        if (b - a > 1 && !pure) listed += static_cast<double>(b - a);
    }
    return listed;
}

// Pairs of rows with different outputs, by the number of features on which they agree. A row is
// listed at S as long as it has a partner in such a pair that agrees with it on S.
std::vector<double> count_agreements(const Sample& sample) {
    constexpr std::uint64_t kPairs = 8192;
    const std::size_t n = sample.n_rows();
    const double every = static_cast<double>(n) * static_cast<double>(n - 1) / 2.0;
    std::vector<double> pairs(sample.n_features + 1, 0.0);
    const auto add = [&](std::size_t i, std::size_t k, double weight) {
        if (sample.label[i] == sample.label[k] && sample.label[i] >= 0) return;
        std::size_t agree = 0;
        for (std::size_t j = 0; j < sample.n_features; ++j)
            agree += sample.row(i)[j] == sample.row(k)[j];
        pairs[agree] += weight;
    };
    if (every <= static_cast<double>(kPairs)) {
        for (std::size_t i = 1; i < n; ++i)
            for (std::size_t k = 0; k < i; ++k) add(i, k, 1.0);
        return pairs;
    }
    for (std::uint64_t draw = 0; draw < kPairs; ++draw) {
        const std::uint64_t bits = support::mix(draw + 1);
        const std::size_t i = bits % n;
        add(i, (i + 1 + (bits >> 32) % (n - 1)) % n, every / kPairs);
    }
    return pairs;
}

// How many times the rows of a set are visited on average: once at the set, and once for every
// later feature that refines it; for the gain also once for every feature that is not in it.
double visits_at(std::size_t p, std::size_t size, double n_later, Measure measure) {
    return n_later + (measure == Measure::gain ? static_cast<double>(p - size) : 1.0);
}

// Visits of a random set of this size, as a mean over a few.
double sample_visits(const Sample& sample, const std::vector<std::size_t>& searched,
                     std::size_t size, Measure measure) {
    constexpr std::uint64_t kSets = 16;
    const std::size_t p = sample.n_features;
    std::vector<std::uint32_t> order(p), features(size);
    double visits = 0.0;
    for (std::uint64_t k = 0; k < kSets; ++k) {
        shuffle(size, k, order);
        std::size_t next = 0;  // the first place after those of the set
        for (std::size_t i = 0; i < size; ++i) {
            features[i] = static_cast<std::uint32_t>(searched[order[i]]);
            next = std::max<std::size_t>(next, order[i] + 1);
        }
        visits += count_listed(sample, features) *
                  visits_at(p, size, static_cast<double>(p - next), measure);
    }
    return visits / kSets;
}

}  // namespace

double shared_partition(const Sample& sample, const Impurity& impurity, Measure measure,
                        double* values, std::size_t n_threads, Interrupt& interrupt) {
    // Tasks and lanes follow from the sizes alone, so that the number of threads changes no bit.
    constexpr std::size_t kLanes = 8;
    constexpr std::size_t kLaneMemory = std::size_t{1} << 25;
    const std::size_t size = sample.n_rows() * sample.n_features;
    const bool parallel = sample.n_features > 8 && size * sizeof(double) < kLaneMemory;
    const unsigned bits = parallel ? 6 : 0;
    const std::size_t lanes = parallel ? kLanes : 1;
    const std::vector<std::size_t> order = order_features(sample);
    std::vector<std::vector<double>> parts(lanes);
    std::vector<std::uint64_t> visits(lanes);
    support::parallel_for(lanes, n_threads, interrupt, [&] {
        return [&](std::size_t lane) {
            Partition partition(sample, impurity, measure, order, interrupt);
            for (std::size_t task = lane; task >> bits == 0; task += lanes)
                partition.run(task, bits);
            parts[lane].assign(size, 0.0);
            partition.add_to(parts[lane].data(), order);
            visits[lane] = partition.visits();
        };
    });
    std::fill(values, values + size, 0.0);
    for (const std::vector<double>& part : parts)
        for (std::size_t k = 0; k < size; ++k) values[k] += part[k];
    return static_cast<double>(std::accumulate(visits.begin(), visits.end(), std::uint64_t{0}));
}

double estimate_shared_partition(const Sample& sample, Measure measure, double limit) {
    const std::size_t p = sample.n_features;
    const std::vector<std::size_t> searched = order_features(sample);
    // Pairs that agree on a random set of size s, by the number of features on which they agree.
    std::vector<double> pairs = count_agreements(sample);
    double visits = static_cast<double>(sample.n_rows());
    double n_sets = 1.0;  // of size s
    for (std::size_t s = 0; s <= p && visits <= limit; ++s) {
        const double together = std::accumulate(pairs.begin(), pairs.end(), 0.0);
        if (together == 0.0) break;
        // Where hardly any set keeps rows together, a few random ones would show none; but there
        // are very many of them, and two rows together are rarely three.
        const double n_later = static_cast<double>(p - s) / static_cast<double>(s + 1);
        visits += n_sets * (together < 1.0 ? 2.0 * together * visits_at(p, s, n_later, measure)
                                           : sample_visits(sample, searched, s, measure));
        for (std::size_t a = 0; a <= p && s < p; ++a)
            pairs[a] *= a > s ? static_cast<double>(a - s) / static_cast<double>(p - s) : 0.0;
        n_sets *= n_later;
    }
    return visits;
}

}  // namespace localmdi::infinite
