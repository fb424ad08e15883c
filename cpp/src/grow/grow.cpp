#include "localmdi/grow/grow.hpp"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "localmdi/grow/honest_rows.hpp"
#include "localmdi/grow/plain_grower.hpp"
#include "localmdi/grow/tree_grower.hpp"

namespace localmdi::grow {
namespace {

// Lets the chunks through in their order, whichever thread has them: sums are added in the order of
// the trees, so that the number of threads changes no bit.
class Turnstile {
public:
    // Calls enter() when all chunks before this one have passed.
    template <class Enter>
    void pass(std::size_t chunk, Interrupt& interrupt, Enter enter) {
        std::unique_lock<std::mutex> lock(mutex_);
        while (next_ != chunk) {
            // A thread that failed never lets the next one through; the interrupt tells of it.
            interrupt.check();
            changed_.wait_for(lock, std::chrono::milliseconds(20));
        }
        enter();
        ++next_;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t next_ = 0;
};

std::size_t count_codes(const TrainingRows& rows) {
    float largest = -1;
    for (std::size_t f = 0; f < rows.n_features; ++f)
        if (rows.categorical[f])
            for (std::size_t i = 0; i < rows.n_rows; ++i)
                largest = std::max(largest, rows.column(f)[i]);
    return static_cast<std::size_t>(largest + 1);
}

template <class Sums>
struct Growing {
    const TrainingRows& rows;
    const Target& target;
    const GrowRules& rules;
    const GrowSums& sums;
    GrownTrees* trees;

    void run(TreeRange range, std::size_t n_threads, Interrupt& interrupt) const {
        bool whole = !rules.balance_draws;
        double total = 0;
        for (const double w : rows.weight) {
            whole = whole && w == std::floor(w);
            total += w;
        }
        // A bootstrap can draw the heaviest row every time.
        const double most = static_cast<double>(rules.n_draws) *
                            *std::max_element(rows.weight.begin(), rows.weight.end());
        total = std::max(total, most);
        const Sums criterion(target, whole && total < 0x1p52, total);
        if constexpr (!std::is_same_v<Sums, ResponseSums>)
            if (is_plain(rows, rules)) {
                const NumberTable table(rows);
                return run_growers(range, n_threads, interrupt, [&] {
                    return PlainGrower(rows, target, rules, criterion, table, interrupt);
                });
            }
        const std::size_t n_codes = count_codes(rows);
        run_growers(range, n_threads, interrupt,
                    [&] { return TreeGrower<Sums>(rows, rules, criterion, n_codes, interrupt); });
    }

    template <class MakeGrower>
    void run_growers(TreeRange range, std::size_t n_threads, Interrupt& interrupt,
                     MakeGrower make_grower) const {
        Turnstile turnstile;
        std::optional<RowResponses> responses;
        if (rules.honest) responses.emplace(target);
        const auto make_chunk = [&] {
            return GrowChunk(rows, target, rules.honest, sums.out_of_bag);
        };
        const auto make_honest = [&] {
            std::optional<HonestRows> honest;
            if (rules.honest) honest.emplace(rows, target, rules, responses->view, interrupt);
            return honest;
        };
        const auto grow_chunk = [&](std::size_t which, auto& grower, GrowChunk& chunk,
                                    auto& honest) {
            const std::size_t begin = which * kChunk, end = std::min(begin + kChunk, range.count);
            for (std::size_t t = range.first + begin; t < range.first + end; ++t) {
                grower.grow(t, chunk, trees);
                if (honest) honest->explain(t, chunk);
            }
        };
        support::parallel_for((range.count + kChunk - 1) / kChunk, n_threads, interrupt, [&] {
            return [&, grower = make_grower(), chunk = make_chunk(),
                    honest = make_honest()](std::size_t which) mutable {
                grow_chunk(which, grower, chunk, honest);
                turnstile.pass(which, interrupt, [&] { chunk.commit(sums, trees); });
            };
        });
    }
};

}  // namespace

void grow(const TrainingRows& rows, const Target& target, const GrowRules& rules, TreeRange range,
          const GrowSums& sums, GrownTrees* trees, std::size_t n_threads, Interrupt& interrupt) {
    const auto run = [&]<class Sums>() {
        Growing<Sums>{rows, target, rules, sums, trees}.run(range, n_threads, interrupt);
    };
    switch (target.criterion) {
        case Criterion::entropy:
            return run.template operator()<ClassSums<Criterion::entropy>>();
        case Criterion::gini:
            return run.template operator()<ClassSums<Criterion::gini>>();
        case Criterion::variance:
            return run.template operator()<ResponseSums>();
    }
}

}  // namespace localmdi::grow
