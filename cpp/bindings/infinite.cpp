#include <nanobind/stl/optional.h>

#include <optional>

#include "localmdi/infinite/lattice.hpp"
#include "localmdi/infinite/row_dual.hpp"
#include "localmdi/infinite/row_sets.hpp"
#include "localmdi/infinite/sampled_paths.hpp"
#include "localmdi/infinite/shared_partition.hpp"
#include "module.hpp"
#include "support.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace localmdi::bindings {

using infinite::Impurity;
using infinite::Measure;
using infinite::PathRules;
using support::Criterion;
using support::parallel_for;

namespace {

using Numbers = std::optional<Matrix<const double>>;

Measure measure_of(bool gain) { return gain ? Measure::gain : Measure::drop; }

// Holds the arrays of a sample and checks them once.
struct SampleArrays {
    nb::object owners;
    infinite::Sample sample;

    SampleArrays(Matrix<const std::int32_t> codes, Vector<const std::int64_t> entry_offset,
                 Vector<const std::int32_t> entry_slot, Vector<const double> entry_weight,
                 Vector<const std::int32_t> label, std::size_t n_slots, Criterion criterion)
        : owners(nb::make_tuple(codes, entry_offset, entry_slot, entry_weight, label)),
          sample{codes.shape(1),
                 n_slots,
                 criterion,
                 {codes.data(), codes.size()},
                 as_span(entry_offset),
                 as_span(entry_slot),
                 as_span(entry_weight),
                 as_span(label)} {
        const std::size_t n = label.size();
        require(n > 0 && codes.shape(0) == n && entry_offset.size() == n + 1 &&
                    entry_slot.size() == entry_weight.size(),
                "the arrays of a sample must fit each other");
        require(sample.entry_offset.front() == 0 &&
                    sample.entry_offset.back() == static_cast<std::int64_t>(entry_slot.size()),
                "entries must cover the rows");
        for (std::size_t i = 0; i < n; ++i)
            require(sample.entry_offset[i] < sample.entry_offset[i + 1], "a row must have entries");
        for (const std::int32_t slot : sample.entry_slot)
            require(0 <= slot && slot < static_cast<std::int32_t>(n_slots), "slots must exist");
        for (const std::int32_t code : sample.codes)
            require(code >= 0, "codes must not be negative");
    }

    // The same with numeric features, which row sets and sampled paths look at.
    SampleArrays(const SampleArrays& categories, Matrix<const double> values,
                 Vector<const std::int32_t> column)
        : owners(nb::make_tuple(categories.owners, values, column)), sample(categories.sample) {
        sample.numbers = {values.shape(1), {values.data(), values.size()}, as_span(column)};
        require(values.shape(0) == sample.n_rows() && values.shape(1) > 0 &&
                    column.size() == sample.n_features,
                "numbers must fit the sample");
        for (const std::int32_t c : sample.numbers.column)
            require(-1 <= c && c < static_cast<std::int32_t>(values.shape(1)),
                    "columns of numbers must exist");
    }

    void require_row(std::size_t row) const {
        require(row < sample.n_rows(), "the row must be in the sample");
    }
    // Rows to explain, and their numbers where the sample has any.
    infinite::PathRows rows(const Matrix<const std::int32_t>& x, const Numbers& numbers) const {
        const std::size_t q = sample.numbers.n_columns;
        require(x.shape(1) == sample.n_features, "rows must fit the sample");
        require(numbers ? numbers->shape(0) == x.shape(0) && numbers->shape(1) == q : q == 0,
                "numbers must fit the rows and the sample");
        if (!numbers) return {{x.data(), x.size()}, {}};
        return {{x.data(), x.size()}, {numbers->data(), numbers->size()}};
    }
};

nb::tuple lattice(const SampleArrays& self, std::size_t row, bool all_features, bool pairs,
                  std::size_t n_threads) {
    self.require_row(row);
    infinite::LatticeAnswer answer;
    run_kernel([&](Interrupt& interrupt) {
        const Impurity impurity(self.sample);
        answer = infinite::solve_lattice(self.sample, impurity, {row, all_features, pairs},
                                         n_threads, interrupt);
    });
    std::vector<std::int64_t> features(answer.features.begin(), answer.features.end());
    return nb::make_tuple(to_array(std::move(features)), to_array(std::move(answer.sums.all)),
                          to_array(std::move(answer.sums.member)),
                          to_array(std::move(answer.sums.pair)));
}

nb::tuple lattice_gain(const SampleArrays& self, std::size_t row, bool all_features,
                       std::size_t n_threads) {
    self.require_row(row);
    infinite::LatticeGain answer;
    run_kernel([&](Interrupt& interrupt) {
        answer =
            infinite::solve_lattice_gain(self.sample, {row, all_features}, n_threads, interrupt);
    });
    std::vector<std::int64_t> features(answer.features.begin(), answer.features.end());
    return nb::make_tuple(to_array(std::move(features)), to_array(std::move(answer.sums.edge)));
}

double all_rows(const SampleArrays& self, bool gain, Matrix<double> values, std::size_t n_threads) {
    require(values.shape(0) == self.sample.n_rows() && values.shape(1) == self.sample.n_features,
            "values must fit the sample");
    double visits = 0.0;
    run_kernel([&](Interrupt& interrupt) {
        const Impurity impurity(self.sample);
        visits = infinite::shared_partition(self.sample, impurity, measure_of(gain), values.data(),
                                            n_threads, interrupt);
    });
    return visits;
}

void few_rows(const SampleArrays& self, Vector<const std::int64_t> rows, Matrix<double> values,
              std::size_t n_threads) {
    require(values.shape(0) == rows.size() && values.shape(1) == self.sample.n_features,
            "values must fit the rows");
    for (std::size_t k = 0; k < rows.size(); ++k)
        self.require_row(static_cast<std::size_t>(rows.data()[k]));
    run_kernel([&](Interrupt& interrupt) {
        const Impurity impurity(self.sample);
        parallel_for(rows.size(), n_threads, interrupt, [&] {
            return [&](std::size_t k) {
                infinite::row_dual(self.sample, impurity, static_cast<std::size_t>(rows.data()[k]),
                                   values.data() + k * self.sample.n_features, interrupt);
            };
        });
    });
}

void row_sets(const SampleArrays& self, Matrix<const std::int32_t> x, const Numbers& numbers,
              PathRules rules, double budget, Matrix<double> values, Matrix<double> ends,
              const std::optional<Matrix<double>>& profile, std::size_t n_threads) {
    const infinite::PathRows given = self.rows(x, numbers);
    const std::size_t n = x.shape(0), p = x.shape(1), q = self.sample.numbers.n_columns;
    require(values.shape(0) == n && values.shape(1) == p, "values must fit the rows");
    require(ends.shape(0) == n && ends.shape(1) == 3, "ends must fit the rows");
    require(!profile || (profile->shape(0) == n && profile->shape(1) == p * p && q == 0),
            "a profile must fit the rows, and have no numbers");
    run_kernel([&](Interrupt& interrupt) {
        const infinite::BitRows rows(self.sample);
        parallel_for(n, n_threads, interrupt, [&] {
            return [&](std::size_t k) {
                const infinite::RowSetAnswer answer = infinite::forward_row_sets(
                    self.sample, rows,
                    {given.codes.subspan(k * p, p), rules, budget, given.numbers.subspan(k * q, q)},
                    values.data() + k * p, profile ? profile->data() + k * p * p : nullptr,
                    interrupt);
                double* const end = ends.data() + 3 * k;
                end[0] = answer.residual;
                end[1] = answer.support;
                end[2] = answer.complete;
            };
        });
    });
}

// sums: the values of all rows, and below them their squares.
void paths(const SampleArrays& self, Matrix<const std::int32_t> x, const Numbers& numbers,
           PathRules rules, Vector<const std::uint64_t> range, Matrix<double> sums,
           Matrix<double> ends, std::size_t n_threads) {
    const infinite::PathRows rows = self.rows(x, numbers);
    const std::size_t n = x.shape(0);
    require(sums.shape(0) == 2 * n && sums.shape(1) == x.shape(1), "sums must fit the rows");
    require(range.size() == 3, "range must be a seed, the first pair and a count");
    require(ends.shape(0) == 2 && ends.shape(1) == n, "ends must fit the rows");
    const std::uint64_t* const r = range.data();
    run_kernel([&](Interrupt& interrupt) {
        infinite::sample_paths(self.sample, rows, {r[0], r[1], r[2], rules},
                               {sums.data(), sums.data() + x.size(), ends.data(), ends.data() + n},
                               n_threads, interrupt);
    });
}

void pairs(const SampleArrays& self, Vector<const std::int32_t> x, std::uint8_t index,
           Vector<const std::uint64_t> range, Matrix<double> values, Matrix<double> squares,
           std::size_t n_threads) {
    const std::size_t p = self.sample.n_features;
    const auto fits = [&](const Matrix<double>& m) { return m.shape(0) == p && m.shape(1) == p; };
    require(x.size() == p && fits(values) && fits(squares), "x and values must fit the sample");
    require(index <= 2 && range.size() == 3, "range must be a seed, the first pair and a count");
    const std::uint64_t* const r = range.data();
    run_kernel([&](Interrupt& interrupt) {
        infinite::sample_pairs(self.sample, as_span(x),
                               {r[0], r[1], r[2], static_cast<infinite::PairIndex>(index)},
                               values.data(), squares.data(), n_threads, interrupt);
    });
}

}  // namespace

void bind_infinite(nb::module_& m) {
    nb::class_<PathRules>(m, "PathRules", "How a path is followed, and what its edges count for.")
        .def(
            "__init__",
            [](PathRules* self, std::uint8_t unseen, bool gain) {
                require(unseen <= 2, "unseen must be 0, 1 or 2");
                new (self) PathRules{static_cast<infinite::Unseen>(unseen), measure_of(gain)};
            },
            "unseen"_a, "gain"_a);
    nb::class_<SampleArrays>(m, "Sample", "Distinct rows and what is known of their output.")
        .def(nb::init<Matrix<const std::int32_t>, Vector<const std::int64_t>,
                      Vector<const std::int32_t>, Vector<const double>, Vector<const std::int32_t>,
                      std::size_t, Criterion>(),
             "codes"_a.noconvert(), "entry_offset"_a.noconvert(), "entry_slot"_a.noconvert(),
             "entry_weight"_a.noconvert(), "label"_a.noconvert(), "n_slots"_a, "criterion"_a)
        .def(nb::init<const SampleArrays&, Matrix<const double>, Vector<const std::int32_t>>(),
             "categories"_a, "values"_a.noconvert(), "column"_a.noconvert())
        .def("lattice", &lattice, "row"_a, "all_features"_a, "pairs"_a, "n_threads"_a)
        .def("lattice_gain", &lattice_gain, "row"_a, "all_features"_a, "n_threads"_a)
        .def(
            "lattice_cost",
            [](const SampleArrays& self, std::size_t row, bool all_features, bool gain) {
                self.require_row(row);
                return infinite::estimate_lattice(self.sample, {row, all_features},
                                                  measure_of(gain));
            },
            "row"_a, "all_features"_a, "gain"_a)
        .def("shared_partition", &all_rows, "gain"_a, "values"_a.noconvert(), "n_threads"_a)
        .def(
            "shared_partition_cost",
            [](const SampleArrays& self, bool gain, double limit) {
                return infinite::estimate_shared_partition(self.sample, measure_of(gain), limit);
            },
            "gain"_a, "limit"_a)
        .def("row_dual", &few_rows, "rows"_a.noconvert(), "values"_a.noconvert(), "n_threads"_a)
        .def("row_sets", &row_sets, "x"_a.noconvert(), "numbers"_a.none().noconvert(), "rules"_a,
             "budget"_a, "values"_a.noconvert(), "ends"_a.noconvert(),
             "profile"_a.none().noconvert(), "n_threads"_a)
        .def("sampled_paths", &paths, "x"_a.noconvert(), "numbers"_a.none().noconvert(), "rules"_a,
             "range"_a.noconvert(), "sums"_a.noconvert(), "ends"_a.noconvert(), "n_threads"_a)
        .def("sampled_pairs", &pairs, "x"_a.noconvert(), "index"_a, "range"_a.noconvert(),
             "values"_a.noconvert(), "squares"_a.noconvert(), "n_threads"_a);
}

}  // namespace localmdi::bindings
