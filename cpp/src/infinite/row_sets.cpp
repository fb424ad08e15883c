#include "localmdi/infinite/row_sets.hpp"

#include <map>
#include <unordered_map>

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
};

using Sets = std::unordered_map<Set, Reach, Hash>;

int size_of(const Set& set) {
    int size = 0;
    for (const Word w : set) size += std::popcount(w);
    return size;
}

// Where the features lead from one set.
struct Ways {
    std::vector<std::size_t> smaller;  // features that split it
    std::vector<Set> below;            // x's part, for each of these
    std::size_t n_empty = 0;           // features that would leave no row
};

Ways ways_from(const BitRows& rows, const Set& at, const std::vector<Word>& matching, std::size_t p,
               Unseen unseen) {
    Ways ways;
    Set below(at.size());
    for (std::size_t j = 0; j < p; ++j) {
        Word lost = 0;
        Word left = 0;
        for (std::size_t w = 0; w < at.size(); ++w) {
            below[w] = at[w] & matching[j * at.size() + w];
            left |= below[w];
            lost |= at[w] ^ below[w];
        }
        if (lost == 0) continue;
        if (left == 0) {
            ways.n_empty += unseen != Unseen::Tree || rows.varies(at.data(), j);
        } else {
            ways.smaller.push_back(j);
            ways.below.push_back(below);
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

}  // namespace

RowSetAnswer forward_row_sets(const Sample& sample, const BitRows& rows,
                              const RowSetQuestion& question, double* values,
                              Interrupt& interrupt) {
    std::vector<Word> matching;
    rows.match(question.x, matching);
    const double cost = static_cast<double>(sample.n_features * rows.n_words());
    double budget = question.budget;
    Amounts amounts(sample, rows, question.rules.measure);
    std::map<int, Sets> by_size;
    by_size[size_of(rows.all())][rows.all()] = {1.0, 1.0};
    RowSetAnswer answer;
    // Larger sets first: when a set's turn comes, everything that leads to it has been.
    while (!by_size.empty()) {
        const auto largest = std::prev(by_size.end());
        const Sets sets = std::move(largest->second);
        by_size.erase(largest);
        for (const auto& [at, reach] : sets) {
            interrupt.check();
            if ((budget -= cost) < 0.0) return answer;
            const double impurity = amounts.leave(at);
            const Ways ways = impurity == 0.0 ? Ways{}
                                              : ways_from(rows, at, matching, sample.n_features,
                                                          question.rules.unseen);
            budget -= kPerSet * static_cast<double>(ways.smaller.size());
            const std::size_t n_ways = ways.smaller.size() + ways.n_empty;
            if (n_ways == 0) answer.support += reach.supported;
            // Skipped features are drawn again; otherwise a feature that leaves no row ends the
            // path.
            const std::size_t n_drawn =
                question.rules.unseen == Unseen::Skip ? ways.smaller.size() : n_ways;
            if (n_drawn == 0) answer.residual += reach.any * impurity;
            else
                answer.residual += reach.any * impurity *
                                   static_cast<double>(n_drawn - ways.smaller.size()) /
                                   static_cast<double>(n_drawn);
            for (std::size_t k = 0; k < ways.smaller.size(); ++k) {
                const double part = reach.any / static_cast<double>(n_drawn);
                values[ways.smaller[k]] += part * amounts.reach(ways.below[k]);
                Reach& next = by_size[size_of(ways.below[k])][ways.below[k]];
                next.any += part;
                next.supported += reach.supported / static_cast<double>(n_ways);
            }
        }
    }
    answer.complete = true;
    return answer;
}

}  // namespace localmdi::infinite
