#include <filesystem>

#include "traces/importers/importers.h"
#include "traces/parts/merge.h"

namespace corun {
namespace {

class PartImporter final : public TraceImporter {
 public:
  std::string_view name() const override { return "part"; }
  std::string_view description() const override {
    return "what one process wrote while simtrace recorded it (.part), without the other parts of its session";
  }
  int sniff(const SourceFile& source) const override { return is_part(source.bytes) ? 100 : 0; }
  Timeline read(const SourceFile& source) const override {
    MergeOptions options;
    options.source_file = std::filesystem::path(source.path).filename().string();
    options.content_hash = source.hash;
    MergeReport report;
    return merge_parts({read_part(source.bytes, source.path)}, options, report);
  }
};

}  // namespace

std::unique_ptr<TraceImporter> make_part_importer() { return std::make_unique<PartImporter>(); }

}  // namespace corun
