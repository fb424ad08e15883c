// Trees as a model keeps them, for packing them in place.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "localmdi/forest/pack_drops.hpp"
#include "module.hpp"
#include "support.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace localmdi::bindings {
namespace {

using forest::BinaryTree;
using forest::PackedForest;

using Bytes = Vector<const std::uint8_t>;
using Offsets = Column<std::int64_t>;

// Where the fields of a node lie in a record, in bytes.
struct RecordLayout {
    std::size_t size, left, right, feature, threshold, weight, impurity, missing_goes_left;
};

template <class T>
forest::Strided<T> record_field(const Bytes& records, std::size_t size, std::size_t offset) {
    require(size % sizeof(T) == 0 && offset + sizeof(T) <= size,
            "the field must lie in the record");
    return {reinterpret_cast<const T*>(records.data() + offset),
            static_cast<std::ptrdiff_t>(size / sizeof(T))};
}

// Keeps the arrays alive.
class Records {
public:
    Records(std::vector<Bytes> records, const RecordLayout& layout,
            std::vector<std::optional<Offsets>> columns, std::int64_t n_features,
            Column<double> tree_weight, bool missing)
        : records_(std::move(records)),
          columns_(std::move(columns)),
          tree_weight_(std::move(tree_weight)),
          n_features_(n_features) {
        require(columns_.size() == records_.size() && tree_weight_.size() == records_.size(),
                "records, columns and tree_weight must have one entry per tree");
        trees_.reserve(records_.size());
        for (std::size_t t = 0; t < records_.size(); ++t) {
            const Bytes& nodes = records_[t];
            const std::size_t size = layout.size;
            require(size > 0 && nodes.size() % size == 0, "a tree must be made of whole records");
            BinaryTree tree{nodes.size() / size,
                            record_field<std::int64_t>(nodes, size, layout.left),
                            record_field<std::int64_t>(nodes, size, layout.right),
                            record_field<std::int64_t>(nodes, size, layout.feature),
                            record_field<double>(nodes, size, layout.threshold),
                            record_field<double>(nodes, size, layout.weight),
                            record_field<double>(nodes, size, layout.impurity),
                            {},
                            {}};
            if (missing)
                tree.missing_goes_left =
                    record_field<std::uint8_t>(nodes, size, layout.missing_goes_left);
            if (columns_[t]) tree.column = as_span(*columns_[t]);
            trees_.push_back(tree);
        }
    }

    std::optional<PackedForest<float>> pack(std::size_t n_threads) const {
        std::optional<PackedForest<float>> packed;
        run_kernel([&](Interrupt& interrupt) {
            packed = forest::pack_drops({trees_, as_span(tree_weight_), n_features_}, n_threads,
                                        interrupt);
        });
        return packed;
    }

private:
    std::vector<Bytes> records_;
    std::vector<std::optional<Offsets>> columns_;
    Column<double> tree_weight_;
    std::int64_t n_features_;
    std::vector<BinaryTree> trees_;  // of the records
};

}  // namespace

void bind_records(nb::module_& m) {
    nb::class_<RecordLayout>(m, "RecordLayout", "Where the fields of a node lie in a record.")
        .def(nb::init<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t,
                      std::size_t, std::size_t>(),
             nb::kw_only(), "size"_a, "left"_a, "right"_a, "feature"_a, "threshold"_a, "weight"_a,
             "impurity"_a, "missing_goes_left"_a);
    nb::class_<Records>(m, "TreeRecords", "Binary trees as a model keeps them; read in place.")
        .def(nb::init<std::vector<Bytes>, const RecordLayout&, std::vector<std::optional<Offsets>>,
                      std::int64_t, Column<double>, bool>(),
             nb::kw_only(), "records"_a, "layout"_a, "columns"_a, "n_features"_a, "tree_weight"_a,
             "missing"_a)
        .def("pack", &Records::pack, "n_threads"_a,
             "Pack them with their drops of impurity; None if they break a rule of forests.");
}

}  // namespace localmdi::bindings
