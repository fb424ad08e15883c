#include "localmdi/infinite/row_sets.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace localmdi::infinite {
namespace {

using Set = std::vector<Word>;

// Finding a set among those that were reached costs about as much as this many words.
constexpr double kPerSet = 64.0;

struct Hash {
    std::size_t operator()(const Set& set) const {
        std::uint64_t h = 0;
        for (const Word w : set) {
            h = (h ^ w) * 0x9e3779b97f4a7c15u;
            h ^= h >> 32;
        }
        return static_cast<std::size_t>(h);
    }
};

// Probabilities of reaching a set: in all, and without having met a node that lacks x's value.
struct Reach {
    double any = 0.0;
    double supported = 0.0;
    std::vector<double> by_asked;  // `any` by the number of features asked before; for profiles
};

using Sets = std::unordered_map<Set, Reach, Hash>;

int size_of(const Set& set) {
    int size = 0;
    for (const Word w : set) size += std::popcount(w);
    return size;
}

// Where the features lead from one set.
struct Ways {
    std::vector<std::size_t> feature;  // that splits it
    std::vector<Set> below;            // x's part
    std::vector<double> chance;        // of this part, if the feature is drawn
    std::size_t n_leading = 0;         // features that split it
    std::size_t n_empty = 0;           // features that would leave no row

    void add(std::size_t j, Set set, double share) {
        feature.push_back(j);
        below.push_back(std::move(set));
        chance.push_back(share);
    }
};

// Adds the sets that random cuts of a number leave on x's side.
void add_cuts(const Numbers& numbers, const BitRows& rows, const Set& at, std::size_t j,
              std::span<const double> x_numbers, Ways& ways) {
    std::vector<std::pair<double, std::size_t>> bits;
    rows.each_row(at.data(), [&](std::size_t bit, std::uint32_t row) {
        bits.emplace_back(numbers(row, j), bit);
    });
    std::sort(bits.begin(), bits.end());
    const double range = bits.back().first - bits.front().first;
    if (!(range > 0.0)) return;
    ++ways.n_leading;
    const double x = numbers.of(x_numbers, j);
    Set left(at.size(), 0);
    for (std::size_t k = 0; k + 1 < bits.size(); ++k) {
        left[bits[k].second / 64] |= Word{1} << (bits[k].second % 64);
        const double low = bits[k].first;
        const double high = bits[k + 1].first;
        if (low == high) continue;
        // Cuts in [x, high) leave x on the left, cuts in [low, x) on the right.
        const double own = std::clamp(x, low, high);
        if (own < high) ways.add(j, left, (high - own) / range);
        if (own > low) {
            Set right(at);
            for (std::size_t w = 0; w < at.size(); ++w) right[w] &= ~left[w];
            ways.add(j, std::move(right), (own - low) / range);
        }
    }
}

Ways ways_from(const Sample& sample, const BitRows& rows, const Set& at,
               const std::vector<Word>& matching, const RowSetQuestion& question) {
    Ways ways;
    Set below(at.size());
    for (std::size_t j = 0; j < sample.n_features; ++j) {
        if (sample.numbers.is_number(j)) {
            add_cuts(sample.numbers, rows, at, j, question.x_numbers, ways);
            continue;
        }
        Word lost = 0;
        Word left = 0;
        for (std::size_t w = 0; w < at.size(); ++w) {
            below[w] = at[w] & matching[j * at.size() + w];
            left |= below[w];
            lost |= at[w] ^ below[w];
        }
        if (lost == 0) continue;
        if (left == 0) {
            ways.n_empty += question.rules.unseen != Unseen::Tree || rows.varies(at.data(), j);
        } else {
            ++ways.n_leading;
            ways.add(j, below, 1.0);
        }
    }
    return ways;
}

// The amounts of the edges that leave a set.
class Amounts {
public:
    Amounts(const Sample& sample, const BitRows& rows, Measure measure)
        : rows_(rows), gain_(sample), measure_(measure) {}

    // Returns the impurity of the set.
    double leave(const Set& at) {
        impurity_ = rows_.impurity(at.data(), from_);
        if (measure_ == Measure::gain) gain_.to_law(from_.data(), from_.size());
        return impurity_;
    }

    double reach(const Set& below) {
        if (measure_ == Measure::drop) return impurity_ - rows_.impurity(below.data(), to_);
        rows_.add_up(below.data(), to_);
        gain_.to_law(to_.data(), to_.size());
        return gain_(from_.data(), to_.data(), to_.size());
    }

private:
    const BitRows& rows_;
    Gain gain_;
    Measure measure_;
    double impurity_ = 0.0;
    std::vector<double> from_, to_;
};

// Passes a set's probability on by the number of features asked before, and adds to the profile.
class Profile {
public:
    Profile(double* profile, std::size_t p) : profile_(profile), p_(p) {}

    // Turns the probabilities of arriving at a set after k features into those of being there
    // then, over p − k. `n_leading`: features that lead away or end the path, none of which was
    // asked before.
    void stay(std::vector<double>& by_asked, std::size_t n_leading) const {
        for (std::size_t k = 0; k < by_asked.size(); ++k) {
            if (p_ - k > n_leading && k + 1 < p_)
                by_asked[k + 1] += by_asked[k] * static_cast<double>(p_ - k - n_leading) /
                                   static_cast<double>(p_ - k);
            by_asked[k] /= static_cast<double>(p_ - k);
        }
    }

    void lead(const std::vector<double>& by_asked, std::size_t j, double amount,
              Reach& next) const {
        next.by_asked.resize(p_, 0.0);
        for (std::size_t k = 0; k < p_; ++k) {
            profile_[j * p_ + k] += by_asked[k] * amount;
            if (k + 1 < p_) next.by_asked[k + 1] += by_asked[k];
        }
    }

private:
    double* profile_;
    std::size_t p_;
};

}  // namespace

RowSetAnswer forward_row_sets(const Sample& sample, const BitRows& rows,
                              const RowSetQuestion& question, double* values, double* profile,
                              Interrupt& interrupt) {
    std::vector<Word> matching;
    rows.match(question.x, matching);
    const double cost = static_cast<double>(sample.n_features * rows.n_words());
    double budget = question.budget;
    Amounts amounts(sample, rows, question.rules.measure);
    std::map<int, Sets> by_size;
    const Profile by_asked(profile, sample.n_features);
    Reach& root = by_size[size_of(rows.all())][rows.all()] = {1.0, 1.0, {}};
    if (profile) root.by_asked.assign(sample.n_features, 0.0), root.by_asked[0] = 1.0;
    RowSetAnswer answer;
    // Larger sets first: when a set's turn comes, everything that leads to it has been.
    while (!by_size.empty()) {
        const auto largest = std::prev(by_size.end());
        Sets sets = std::move(largest->second);
        by_size.erase(largest);
        for (auto& [at, reach] : sets) {
            interrupt.check();
            if ((budget -= cost) < 0.0) return answer;
            const double impurity = amounts.leave(at);
            const Ways ways =
                impurity == 0.0 ? Ways{} : ways_from(sample, rows, at, matching, question);
            budget -= kPerSet * static_cast<double>(ways.feature.size());
            const std::size_t n_ways = ways.n_leading + ways.n_empty;
            if (n_ways == 0) answer.support += reach.supported;
            // Skipped features are drawn again; otherwise a feature that leaves no row ends the
            // path.
            const std::size_t n_drawn =
                question.rules.unseen == Unseen::Skip ? ways.n_leading : n_ways;
            if (n_drawn == 0) answer.residual += reach.any * impurity;
            else
                answer.residual += reach.any * impurity *
                                   static_cast<double>(n_drawn - ways.n_leading) /
                                   static_cast<double>(n_drawn);
            if (profile) by_asked.stay(reach.by_asked, n_drawn);
            for (std::size_t k = 0; k < ways.feature.size(); ++k) {
                const double part = reach.any * ways.chance[k] / static_cast<double>(n_drawn);
                const double amount = amounts.reach(ways.below[k]);
                values[ways.feature[k]] += part * amount;
                Reach& next = by_size[size_of(ways.below[k])][ways.below[k]];
                next.any += part;
                next.supported += reach.supported * ways.chance[k] / static_cast<double>(n_ways);
                if (profile) by_asked.lead(reach.by_asked, ways.feature[k], amount, next);
            }
        }
    }
    answer.complete = true;
    return answer;
}

}  // namespace localmdi::infinite
