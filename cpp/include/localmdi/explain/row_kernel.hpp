// Local MDI of one row at a time, for few rows and for whatever needs the nodes themselves.
//
// The steps of a row are written down first (row_steps.hpp) and added up after, tree by tree: the
// sink must see the trees in their order.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "localmdi/explain/row_steps.hpp"
#include "localmdi/explain/sinks.hpp"

namespace localmdi::explain {

// An edge that a row takes.
struct PathStep {
    double credit;
    Place at, next;
    std::uint32_t feature;
};

template <class Value>
class PathWalker {
public:
    explicit PathWalker(const PackedForest<Value>& forest)
        : forest_(forest), stride_(forest.max_depth + 1), steps_(slots_used(forest) * stride_) {}

    // Calls visit(tree, steps from the root on, where the row ends) for some trees, in order.
    template <class Visit>
    void run(TreeRange trees, const OneRow<Value>& x, Visit visit) {
        Visitor<Visit> visitor{forest_.splits.data(), stride_, steps_.data(), visit, {}, {}};
        walk_in_step(forest_, trees, x, visitor);
    }

private:
    template <class Visit>
    struct Visitor {
        const PackedSplit<Value>* splits;
        std::size_t stride;
        PathStep* steps;
        Visit& take;
        std::array<std::size_t, kTreeSlots> n_steps;
        std::array<Place, kTreeSlots> end;

        void begin(std::size_t slot, Place root) {
            n_steps[slot] = 0;
            end[slot] = root;
        }
        auto visit() {
            return [this](std::size_t slot, const PackedSplit<Value>& split, const Step& step) {
                steps[slot * stride + n_steps[slot]++] = {step.credit,
                                                          static_cast<Place>(&split - splits),
                                                          step.next, split.split & kFeatureMask};
                end[slot] = step.next;
            };
        }
        void finish(std::size_t tree, std::size_t n) {
            const std::size_t slot = tree % kTreeSlots;
            for (std::size_t k = 0; k < n; ++k)
                take(tree + k,
                     std::span<const PathStep>(steps + (slot + k) * stride, n_steps[slot + k]),
                     end[slot + k]);
        }
    };

    const PackedForest<Value>& forest_;
    std::size_t stride_;
    std::vector<PathStep> steps_;
};

template <class Value>
class RowKernel {
public:
    explicit RowKernel(const PackedForest<Value>& forest)
        : forest_(forest),
          walker_(forest),
          values_(forest.n_features),
          on_path_(forest.n_features),
          path_(forest.max_depth + 1) {}

    template <class Sink>
    void run(TreeRange trees, const OneRow<Value>& x, std::size_t row, Sink& sink) {
        walker_.run(trees, x, [&](std::size_t tree, auto steps, Place end) {
            std::size_t n = 0;
            for (const PathStep& step : steps) {
                path_[n] = step.feature;
                n += !std::exchange(on_path_[step.feature], true);
                values_[step.feature] += step.credit;  // i(t) − i(t_x)
            }
            sink.add(TreeImportance{tree, values_, {path_.data(), n}, forest_.remainder(end), end},
                     std::span<const std::size_t>(&row, 1));
            for (std::size_t k = 0; k < n; ++k) {
                values_[path_[k]] = 0;
                on_path_[path_[k]] = false;
            }
        });
    }

private:
    const PackedForest<Value>& forest_;
    PathWalker<Value> walker_;
    std::vector<double> values_;
    std::vector<unsigned char> on_path_;
    std::vector<std::uint32_t> path_;
};

}  // namespace localmdi::explain
