#include <gtest/gtest.h>

#include <set>

#include "experiments/question/clients/gpu_model.h"
#include "experiments/question/device_file.h"
#include "tests/experiments/question/experiment_text.h"

namespace corun {
namespace {

using testing::complaints;
using testing::read_text;

DeviceFile builtin(std::string_view model) {
  for (const BuiltinDevice& device : builtin_devices())
    if (device.model == model) return read_device_file(device.text, std::string(model));
  return {};
}

std::string on(const std::string& device, const std::string& policy = "passthrough") {
  return fmt::format("name: x\ndevice: {}\nclients: [{{ name: a, synthetic: {{ game: rdr2 }} }}]\npolicies: [{}]\n",
                     device, policy);
}

TEST(DeviceFiles, EveryBuiltInDeviceNamesTheSourceOfEveryNumber) {
  ASSERT_EQ(builtin_devices().size(), 11U);
  for (const BuiltinDevice& builtin : builtin_devices()) {
    const DeviceFile device = read_device_file(builtin.text, std::string(builtin.model));
    EXPECT_EQ(device.spec.name, builtin.model);
    for (const char* key : {"sm_count", "memory", "time_slice", "switch_cost", "sharing", "graphics"})
      EXPECT_FALSE(device.sources.at(key).empty()) << builtin.model << " " << key;
  }
}

TEST(DeviceFiles, TheMeasuredFiguresOfTheH200) {
  DeviceFile h200;
  for (const BuiltinDevice& builtin : builtin_devices())
    if (builtin.model == "h200") h200 = read_device_file(builtin.text, "h200.yaml");
  EXPECT_EQ(h200.spec.time_slice, Duration(2'097'152));
  EXPECT_EQ(h200.spec.switch_cost, Duration(224'500));
  EXPECT_EQ(h200.spec.switch_state, 0.315);
  EXPECT_EQ(h200.spec.memory_bytes, 150'109'880'320U);
}

TEST(DeviceFiles, FormerKeysAreReadAsTheKeysOfToday) {
  const std::string text =
      "name: x\ncompany_gap_scale: { value: 1.5, source: s }\ncompany_stall: { value: 2us, source: s }\n";
  const DeviceFile device = read_device_file(text, "x.yaml");
  EXPECT_EQ(device.spec.mps_gap_scale, 1.5);
  EXPECT_EQ(device.spec.mps_launch_stall, Duration(2'000));
  const std::string today = device_file_text("x", "", read_device_lines(text, "x.yaml"));
  EXPECT_NE(today.find("mps_gap_scale: { value: 1.5,"), std::string::npos) << today;
}

TEST(DeviceFiles, ANumberWithoutASourceIsRefused) {
  EXPECT_THROW(read_device_file("name: x\nsm_count: { value: 3 }\n", "x.yaml"), InvalidInput);
  EXPECT_THROW(read_device_file("name: x\nsm_count: 3\n", "x.yaml"), InvalidInput);
}

TEST(DeviceFiles, SayWhetherTheirDeviceWasMeasured) {
  std::set<std::string_view> measured;
  for (const BuiltinDevice& device : builtin_devices())
    if (builtin(device.model).facts.is_measured) measured.insert(device.model);
  EXPECT_EQ(measured, (std::set<std::string_view>{"h100", "h200"}));
  EXPECT_FALSE(read_text(on("t4")).scenarios[0].device_facts.is_measured);
  EXPECT_TRUE(read_device_file("name: mine\n", "mine.yaml").facts.is_measured) << "a file of the user's";
}

TEST(DeviceFiles, PartsWithMigListInstancesThatFitIntoThem) {
  std::set<std::string_view> with_mig;
  for (const BuiltinDevice& device : builtin_devices()) {
    const DeviceFile file = builtin(device.model);
    for (const MigProfile& profile : file.facts.mig) {
      with_mig.insert(device.model);
      EXPECT_EQ(profile.name.substr(0, 2), fmt::format("{}g", profile.slices)) << device.model;
      EXPECT_LE(profile.sms, file.spec.sm_count) << device.model << " " << profile.name;
      EXPECT_LE(profile.memory_bytes, file.spec.memory_bytes * 101 / 100) << device.model << " " << profile.name;
      for (const std::uint32_t begin : profile.begins) EXPECT_LE(begin + profile.memory_slices, 8U) << profile.name;
    }
  }
  EXPECT_EQ(with_mig, (std::set<std::string_view>{"a100_40gb", "a100_80gb", "h100", "h200"}));
}

TEST(DeviceFiles, AMistakeInAProfileIsLocated) {
  const auto mistake = [](const std::string& mig) {
    try {
      read_device_file("name: x\nmig: " + mig + "\n", "x.yaml");
    } catch (const InvalidInput& invalid) {
      return std::string(invalid.what());
    }
    return std::string();
  };
  EXPECT_EQ(mistake("{ profiles: [] }"), "x.yaml:2:6: `mig` needs its `profiles` and their `source`");
  EXPECT_EQ(mistake("{ source: s, profiles: [{ name: 1g }] }"),
            "x.yaml:2:30: a profile needs `slices`, `memory_slices` and `begins`");
}

TEST(DeviceModels, OfAPartWithVariantsAllAreOffered) {
  EXPECT_EQ(complaints(on("a100"))[0],
            "2:9: E0302 unknown device model `a100` / did you mean `a100_40gb` or `a100_80gb`?");
  EXPECT_EQ(complaints(on("NVIDIA A100-SXM4-80GB"))[0],
            "2:9: E0302 unknown device model `NVIDIA A100-SXM4-80GB` / did you mean `a100_80gb`?");
  EXPECT_EQ(complaints(on("\"Tesla T4\""))[0], "2:9: E0302 unknown device model `Tesla T4` / did you mean `t4`?");
}

TEST(DeviceModels, AnotherPartIsNoMisspelling) {
  EXPECT_EQ(complaints(on("b100"))[0], "2:9: E0302 unknown device model `b100`");
  EXPECT_EQ(complaints(on("rtx4080"))[0], "2:9: E0302 unknown device model `rtx4080`");
  EXPECT_EQ(complaints(on("rtx409"))[0], "2:9: E0302 unknown device model `rtx409` / did you mean `rtx4090`?");
}

TEST(GpuModels, AreNamesWithoutMakerSeriesMemoryAndConnector) {
  const std::pair<const char*, const char*> cases[] = {{"NVIDIA H100 80GB HBM3", "h100"},
                                                       {"Tesla V100-SXM2-16GB", "v100"},
                                                       {"NVIDIA A100-PG509-200", "a100"},
                                                       {"NVIDIA GeForce RTX 2080 Ti", "rtx2080ti"},
                                                       {"NVIDIA L40S", "l40s"},
                                                       {"AMD Instinct MI300X VF", "mi300x"},
                                                       {"NVIDIA GeForce RTX 4090", "rtx4090"},
                                                       {"rtx4090", "rtx4090"},
                                                       {"Quadro GV100", "gv100"},
                                                       {"a100_40gb", "a100"},
                                                       {"NVIDIA TITAN V", ""},
                                                       {"NVIDIA GeForce RTX 4090 Laptop GPU", "rtx4090laptop"}};
  for (const auto& [name, model] : cases) EXPECT_EQ(gpu_model(name), model) << name;
  EXPECT_EQ(gigabytes_in("NVIDIA A100-SXM4-40GB"), 40);
  EXPECT_EQ(gigabytes_in("NVIDIA L4"), 0);
}

TEST(PolicyNames, ThatOthersUseAreUnderstood) {
  const std::pair<const char*, const char*> cases[] = {{"mps", "mps_percentage"},       {"MPS", "mps_percentage"},
                                                       {"time_slicing", "passthrough"}, {"time-slicing", "passthrough"},
                                                       {"default", "passthrough"},      {"vcuda", "gaiagpu"}};
  for (const auto& [name, policy] : cases) {
    const std::string complaint = complaints(on("h200", name)).at(0);
    EXPECT_NE(complaint.find(fmt::format("did you mean `{}` (", policy)), std::string::npos) << complaint;
  }
}

TEST(Clients, PowerHasUnitsAndIsOfCaptures) {
  const auto with = [](const std::string& work) {
    return "name: x\nhorizon: 1s\ndevice: h200\npolicies: [passthrough]\nclients: [{ name: a, " + work + " }]\n";
  };
  const Experiment known = read_text(with("trace: a.csv, power: { mean: 690W, clock: 1845MHz }"));
  EXPECT_EQ(known.scenarios[0].clients[0].power->watts, 690);
  EXPECT_EQ(known.scenarios[0].clients[0].power->sm_mhz, 1845);
  EXPECT_EQ(known.scenarios[0].device.power_limit_w, 700);
  EXPECT_EQ(read_text(with("trace: a.csv")).scenarios[0].device.power_limit_w, 0) << "nothing is known of any draw";
  EXPECT_EQ(complaints(with("trace: a.csv, power: { mean: 690 }"))[0],
            "5:51: E0202 found `690`, expected 1W to 100000W");
  EXPECT_EQ(complaints(with("trace: a.csv, power: { clock: 1845MHz }"))[0],
            "5:43: E0202 `power` needs its `mean` / the watts that nvidia-smi shows while the program runs alone");
  const auto limited = [](const std::string& keys) {
    return complaints("name: x\nhorizon: 1s\ndevice: { " + keys + " }\npolicies: [passthrough]\n" +
                      "clients: [{ name: a, synthetic: { game: rdr2 } }]\n");
  };
  EXPECT_EQ(limited("model: h200, power_limit: 100W")[0],
            "3:9: E0202 the `power_limit` is 100W, and the device takes 118W without work");
  EXPECT_EQ(limited("power_limit: 300W")[0],
            "3:9: E0202 a `power_limit` lowers the clock of the SMs, so the device needs its `full_clock`");
  EXPECT_EQ(complaints(with("synthetic: { game: rdr2 }, power: { mean: 690W }"))[0],
            "5:56: E0202 `power` is of a captured program: a synthetic client draws none that is known");
}

TEST(Clients, DoubtsAreAcceptedByName) {
  const auto accepting = [](const std::string& list) {
    return fmt::format(
        "{}defaults: {{ accept: [span] }}\nscenarios: [{{ name: s, clients: "
        "[{{ name: a, synthetic: {{ game: rdr2 }}{} }}] }}]\n",
        "name: x\nhorizon: 1s\ndevice: h200\npolicies: [passthrough]\n", list);
  };
  const auto only = [&](const std::string& list) { return read_text(accepting(list)).scenarios[0].clients[0]; };
  const ClientChoice stated = only(", accept: [other_gpu, solo_rate]");
  EXPECT_TRUE(stated.accepts(Doubt::kOtherGpu));
  EXPECT_TRUE(stated.accepts(Doubt::kSoloRate));
  EXPECT_FALSE(stated.accepts(Doubt::kSpan));
  EXPECT_TRUE(only("").accepts(Doubt::kSpan));
  EXPECT_EQ(complaints(accepting(", accept: [other_gpus]"))[0],
            "6:81: E0202 found `other_gpus`, expected one of other_gpu, collectives, solo_rate, span / did you mean "
            "`other_gpu`?");
  EXPECT_EQ(complaints(accepting(", accept: span"))[0],
            "6:80: E0202 found text, expected a list / for example: [other_gpu]");
}

}  // namespace
}  // namespace corun
