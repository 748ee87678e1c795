// Compares our declarations of CUPTI with NVIDIA's header. Compiled only where that header is.
#include "tracer/cuda/cupti_abi.h"

#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "tracer/cuda/cupti_functions.h"
#include "tracer/cuda/wait_log.h"

namespace corun::cupti {
namespace {

#define SAME_FIELD(Ours, field, Theirs, their_field)                                                     \
  static_assert(offsetof(Ours, field) == offsetof(Theirs, their_field), #Ours "::" #field " has moved"); \
  static_assert(sizeof(Ours::field) == sizeof(Theirs::their_field), #Ours "::" #field " has another size")
#define IS_PREFIX(Ours, Theirs) \
  static_assert(sizeof(Ours) <= sizeof(Theirs) && offsetof(Ours, kind) == offsetof(Theirs, kind))
#define SAME_VALUE(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))

IS_PREFIX(Kernel, CUpti_ActivityKernel9);
SAME_FIELD(Kernel, registers_per_thread, CUpti_ActivityKernel9, registersPerThread);
SAME_FIELD(Kernel, start, CUpti_ActivityKernel9, start);
SAME_FIELD(Kernel, end, CUpti_ActivityKernel9, end);
SAME_FIELD(Kernel, device, CUpti_ActivityKernel9, deviceId);
SAME_FIELD(Kernel, context, CUpti_ActivityKernel9, contextId);
SAME_FIELD(Kernel, stream, CUpti_ActivityKernel9, streamId);
SAME_FIELD(Kernel, grid_x, CUpti_ActivityKernel9, gridX);
SAME_FIELD(Kernel, grid_y, CUpti_ActivityKernel9, gridY);
SAME_FIELD(Kernel, grid_z, CUpti_ActivityKernel9, gridZ);
SAME_FIELD(Kernel, block_x, CUpti_ActivityKernel9, blockX);
SAME_FIELD(Kernel, block_y, CUpti_ActivityKernel9, blockY);
SAME_FIELD(Kernel, block_z, CUpti_ActivityKernel9, blockZ);
SAME_FIELD(Kernel, static_shared_memory, CUpti_ActivityKernel9, staticSharedMemory);
SAME_FIELD(Kernel, dynamic_shared_memory, CUpti_ActivityKernel9, dynamicSharedMemory);
SAME_FIELD(Kernel, correlation, CUpti_ActivityKernel9, correlationId);
SAME_FIELD(Kernel, name, CUpti_ActivityKernel9, name);
SAME_FIELD(Kernel, graph_node, CUpti_ActivityKernel9, graphNodeId);
SAME_FIELD(Kernel, graph, CUpti_ActivityKernel9, graphId);
IS_PREFIX(Kernel, CUpti_ActivityKernel10);
SAME_FIELD(Kernel, name, CUpti_ActivityKernel10, name);
SAME_FIELD(Kernel, correlation, CUpti_ActivityKernel10, correlationId);
SAME_FIELD(Kernel, graph, CUpti_ActivityKernel10, graphId);

IS_PREFIX(Memcpy, CUpti_ActivityMemcpy6);
SAME_FIELD(Memcpy, copy_kind, CUpti_ActivityMemcpy6, copyKind);
SAME_FIELD(Memcpy, flags, CUpti_ActivityMemcpy6, flags);
SAME_FIELD(Memcpy, bytes, CUpti_ActivityMemcpy6, bytes);
SAME_FIELD(Memcpy, start, CUpti_ActivityMemcpy6, start);
SAME_FIELD(Memcpy, end, CUpti_ActivityMemcpy6, end);
SAME_FIELD(Memcpy, device, CUpti_ActivityMemcpy6, deviceId);
SAME_FIELD(Memcpy, context, CUpti_ActivityMemcpy6, contextId);
SAME_FIELD(Memcpy, stream, CUpti_ActivityMemcpy6, streamId);
SAME_FIELD(Memcpy, correlation, CUpti_ActivityMemcpy6, correlationId);
SAME_FIELD(Memcpy, graph_node, CUpti_ActivityMemcpy6, graphNodeId);

IS_PREFIX(PeerCopy, CUpti_ActivityMemcpyPtoP4);
SAME_FIELD(PeerCopy, copy_kind, CUpti_ActivityMemcpyPtoP4, copyKind);
SAME_FIELD(PeerCopy, flags, CUpti_ActivityMemcpyPtoP4, flags);
SAME_FIELD(PeerCopy, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME_FIELD(PeerCopy, start, CUpti_ActivityMemcpyPtoP4, start);
SAME_FIELD(PeerCopy, end, CUpti_ActivityMemcpyPtoP4, end);
SAME_FIELD(PeerCopy, device, CUpti_ActivityMemcpyPtoP4, deviceId);
SAME_FIELD(PeerCopy, context, CUpti_ActivityMemcpyPtoP4, contextId);
SAME_FIELD(PeerCopy, stream, CUpti_ActivityMemcpyPtoP4, streamId);
SAME_FIELD(PeerCopy, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME_FIELD(PeerCopy, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);

IS_PREFIX(Memset, CUpti_ActivityMemset4);
SAME_FIELD(Memset, bytes, CUpti_ActivityMemset4, bytes);
SAME_FIELD(Memset, start, CUpti_ActivityMemset4, start);
SAME_FIELD(Memset, end, CUpti_ActivityMemset4, end);
SAME_FIELD(Memset, device, CUpti_ActivityMemset4, deviceId);
SAME_FIELD(Memset, context, CUpti_ActivityMemset4, contextId);
SAME_FIELD(Memset, stream, CUpti_ActivityMemset4, streamId);
SAME_FIELD(Memset, correlation, CUpti_ActivityMemset4, correlationId);
SAME_FIELD(Memset, graph_node, CUpti_ActivityMemset4, graphNodeId);

IS_PREFIX(Call, CUpti_ActivityAPI);
SAME_FIELD(Call, function, CUpti_ActivityAPI, cbid);
SAME_FIELD(Call, start, CUpti_ActivityAPI, start);
SAME_FIELD(Call, end, CUpti_ActivityAPI, end);
SAME_FIELD(Call, thread, CUpti_ActivityAPI, threadId);
SAME_FIELD(Call, correlation, CUpti_ActivityAPI, correlationId);

IS_PREFIX(Device, CUpti_ActivityDevice5);
SAME_FIELD(Device, memory_bytes, CUpti_ActivityDevice5, globalMemorySize);
SAME_FIELD(Device, threads_per_warp, CUpti_ActivityDevice5, numThreadsPerWarp);
SAME_FIELD(Device, sm_count, CUpti_ActivityDevice5, numMultiprocessors);
SAME_FIELD(Device, warps_per_sm, CUpti_ActivityDevice5, maxWarpsPerMultiprocessor);
SAME_FIELD(Device, registers_per_sm, CUpti_ActivityDevice5, maxRegistersPerMultiprocessor);
SAME_FIELD(Device, shared_memory_per_sm, CUpti_ActivityDevice5, maxSharedMemoryPerMultiprocessor);
SAME_FIELD(Device, id, CUpti_ActivityDevice5, id);
SAME_FIELD(Device, uuid, CUpti_ActivityDevice5, uuid);
SAME_FIELD(Device, name, CUpti_ActivityDevice5, name);

IS_PREFIX(Context, CUpti_ActivityContext3);
SAME_FIELD(Context, context, CUpti_ActivityContext3, contextId);
SAME_FIELD(Context, device, CUpti_ActivityContext3, deviceId);
SAME_FIELD(Context, api, CUpti_ActivityContext3, computeApiKind);
SAME_FIELD(Context, is_green, CUpti_ActivityContext3, isGreenContext);
SAME_FIELD(Context, sm_count, CUpti_ActivityContext3, numMultiprocessors);

IS_PREFIX(Stream, CUpti_ActivityStream);
SAME_FIELD(Stream, context, CUpti_ActivityStream, contextId);
SAME_FIELD(Stream, stream, CUpti_ActivityStream, streamId);
SAME_FIELD(Stream, priority, CUpti_ActivityStream, priority);
SAME_FIELD(Stream, flag, CUpti_ActivityStream, flag);

IS_PREFIX(Overhead, CUpti_ActivityOverhead3);
SAME_FIELD(Overhead, overhead_kind, CUpti_ActivityOverhead3, overheadKind);
SAME_FIELD(Overhead, object_kind, CUpti_ActivityOverhead3, objectKind);
SAME_FIELD(Overhead, thread, CUpti_ActivityOverhead3, objectId.pt.threadId);
SAME_FIELD(Overhead, start, CUpti_ActivityOverhead3, start);
SAME_FIELD(Overhead, end, CUpti_ActivityOverhead3, end);

SAME_FIELD(CallbackSite, site, CUpti_CallbackData, callbackSite);
SAME_FIELD(CallbackSite, parameters, CUpti_CallbackData, functionParams);
SAME_FIELD(CallbackSite, result, CUpti_CallbackData, functionReturnValue);
SAME_FIELD(CallbackSite, context, CUpti_CallbackData, context);
SAME_FIELD(CallbackSite, context_id, CUpti_CallbackData, contextUid);
SAME_FIELD(CallbackSite, correlation, CUpti_CallbackData, correlationId);
static_assert(sizeof(Result) == sizeof(CUresult) && CUDA_SUCCESS == 0);

SAME_FIELD(RecordEventParameters, event, cuEventRecord_params, hEvent);
SAME_FIELD(RecordEventParameters, stream, cuEventRecord_params, hStream);
SAME_FIELD(RecordEventParameters, event, cuEventRecord_ptsz_params, hEvent);
SAME_FIELD(RecordEventParameters, stream, cuEventRecord_ptsz_params, hStream);
SAME_FIELD(RecordEventParameters, event, cuEventRecordWithFlags_params, hEvent);
SAME_FIELD(RecordEventParameters, stream, cuEventRecordWithFlags_params, hStream);
SAME_FIELD(RecordEventParameters, event, cuEventRecordWithFlags_ptsz_params, hEvent);
SAME_FIELD(RecordEventParameters, stream, cuEventRecordWithFlags_ptsz_params, hStream);
SAME_FIELD(SynchronizeEventParameters, event, cuEventSynchronize_params, hEvent);
SAME_FIELD(SynchronizeStreamParameters, stream, cuStreamSynchronize_params, hStream);
SAME_FIELD(SynchronizeStreamParameters, stream, cuStreamSynchronize_ptsz_params, hStream);
SAME_FIELD(StreamWaitEventParameters, stream, cuStreamWaitEvent_params, hStream);
SAME_FIELD(StreamWaitEventParameters, event, cuStreamWaitEvent_params, hEvent);
SAME_FIELD(StreamWaitEventParameters, stream, cuStreamWaitEvent_ptsz_params, hStream);
SAME_FIELD(StreamWaitEventParameters, event, cuStreamWaitEvent_ptsz_params, hEvent);

SAME_VALUE(Kind::kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME_VALUE(Kind::kMemset, CUPTI_ACTIVITY_KIND_MEMSET);
SAME_VALUE(Kind::kDriver, CUPTI_ACTIVITY_KIND_DRIVER);
SAME_VALUE(Kind::kRuntime, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME_VALUE(Kind::kDevice, CUPTI_ACTIVITY_KIND_DEVICE);
SAME_VALUE(Kind::kContext, CUPTI_ACTIVITY_KIND_CONTEXT);
SAME_VALUE(Kind::kConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_VALUE(Kind::kOverhead, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME_VALUE(Kind::kPeerCopy, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME_VALUE(Kind::kStream, CUPTI_ACTIVITY_KIND_STREAM);
SAME_VALUE(kSuccess, CUPTI_SUCCESS);
SAME_VALUE(kEndOfBuffer, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_VALUE(kOtherSubscriber, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_VALUE(kAttributeZeroedBuffers, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME_VALUE(kThreadIdSystem, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME_VALUE(kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME_VALUE(kDomainDriver, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_VALUE(kSiteEnter, CUPTI_API_ENTER);
SAME_VALUE(kSiteExit, CUPTI_API_EXIT);
SAME_VALUE(kOverheadFlush, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
SAME_VALUE(kOverheadInstrumentation, CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION);
SAME_VALUE(kOverheadResource, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE);
SAME_VALUE(kOverheadBufferRequest, CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
SAME_VALUE(kCopyHostToDevice, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
SAME_VALUE(kCopyDeviceToHost, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
SAME_VALUE(kCopyHostToArray, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
SAME_VALUE(kCopyArrayToHost, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
SAME_VALUE(kCopyDeviceToDevice, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
SAME_VALUE(kCopyHostToHost, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
SAME_VALUE(kCopyPeer, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
SAME_VALUE(kCopyIsAsync, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
SAME_VALUE(kApiMps, CUPTI_ACTIVITY_COMPUTE_API_CUDA_MPS);
SAME_VALUE(kStreamIsDefault, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL);
SAME_VALUE(kObjectThread, CUPTI_ACTIVITY_OBJECT_THREAD);

#if CUPTI_API_VERSION >= 130200
IS_PREFIX(ContextSwitch, CUpti_ActivityComputeEngineCtxSwitch);
SAME_FIELD(ContextSwitch, context, CUpti_ActivityComputeEngineCtxSwitch, contextId);
SAME_FIELD(ContextSwitch, time, CUpti_ActivityComputeEngineCtxSwitch, timestamp);
SAME_FIELD(ContextSwitch, operation, CUpti_ActivityComputeEngineCtxSwitch, operationType);
SAME_VALUE(Kind::kContextSwitch, CUPTI_ACTIVITY_KIND_COMPUTE_ENGINE_CTX_SWITCH);
SAME_VALUE(kSwitchBegins, CUPTI_COMPUTE_ENGINE_CTX_SWITCH_OPERATION_START);
SAME_VALUE(kSwitchEnds, CUPTI_COMPUTE_ENGINE_CTX_SWITCH_OPERATION_END);
#endif

// Whether a function pointer of ours takes what theirs takes, as far as the calling convention sees it.
template <class Ours, class Theirs>
struct AreAlike : std::false_type {};
template <class... Ours, class... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs)) struct AreAlike<Result (*)(Ours...), CUptiResult (*)(Theirs...)>
    : std::bool_constant<((sizeof(Ours) == sizeof(Theirs) &&
                           std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>)&&...)> {
};

static_assert(AreAlike<GetVersion, decltype(&cuptiGetVersion)>::value);
static_assert(AreAlike<Subscribe, decltype(&cuptiSubscribe)>::value);
static_assert(AreAlike<Unsubscribe, decltype(&cuptiUnsubscribe)>::value);
static_assert(AreAlike<EnableCallback, decltype(&cuptiEnableCallback)>::value);
static_assert(AreAlike<SetAttribute, decltype(&cuptiActivitySetAttribute)>::value);
static_assert(AreAlike<SetThreadIdType, decltype(&cuptiSetThreadIdType)>::value);
static_assert(AreAlike<RegisterTimestamp, decltype(&cuptiActivityRegisterTimestampCallback)>::value);
static_assert(AreAlike<RegisterBuffers, decltype(&cuptiActivityRegisterCallbacks)>::value);
static_assert(AreAlike<SwitchKind, decltype(&cuptiActivityEnable)>::value);
static_assert(AreAlike<SwitchKind, decltype(&cuptiActivityEnableAndDump)>::value);
static_assert(AreAlike<SwitchKind, decltype(&cuptiActivityDisable)>::value);
static_assert(AreAlike<SwitchFunction, decltype(&cuptiActivityEnableDriverApi)>::value);
static_assert(AreAlike<GetStreamId, decltype(&cuptiGetStreamIdEx)>::value);
static_assert(AreAlike<FlushAll, decltype(&cuptiActivityFlushAll)>::value);
static_assert(AreAlike<GetNextRecord, decltype(&cuptiActivityGetNextRecord)>::value);
static_assert(AreAlike<GetDropped, decltype(&cuptiActivityGetNumDroppedRecords)>::value);

struct Function {
  std::string name;
  std::uint32_t number;
};

std::vector<Function> functions_of(const std::string& header) {
  std::ifstream file(std::string(CUPTI_FOLDER) + "/" + header);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  static const std::regex kLine(R"(_TRACE_CBID_(\w+)\s*=\s*(\d+))");
  std::vector<Function> functions;
  for (std::sregex_iterator match(all.begin(), all.end(), kLine), end; match != end; ++match) {
    functions.push_back({(*match)[1], static_cast<std::uint32_t>(std::stoul((*match)[2]))});
  }
  return functions;
}

// What a function's name says it does.
part::CallRole role_by_name(const std::string& name) {
  using enum part::CallRole;
  static const std::vector<std::pair<std::regex, part::CallRole>> kRules = {
      {std::regex(R"(Launch|LaunchGrid(Async)?|Launch(Cooperative)?Kernel(Ex|ExC|MultiDevice)?)"), kLaunch},
      {std::regex("GraphLaunch"), kGraphLaunch},
      {std::regex("(Device|Thread|Ctx)Synchronize"), kSynchronizeDevice},
      {std::regex("StreamSynchronize"), kSynchronizeStream},
      {std::regex("EventSynchronize"), kSynchronizeEvent},
      {std::regex("StreamWaitEvent"), kStreamWaitEvent},
      {std::regex("EventRecord(WithFlags)?"), kRecordEvent},
      {std::regex("(Memcpy|Memset).*"), kCopy},
  };
  static const std::regex kAffixes(R"(^_*cu(da|64)?|(_v\d+|_ptsz|_ptds)+$)");
  const std::string verb = std::regex_replace(name, kAffixes, "");
  for (const auto& [rule, role] : kRules) {
    if (std::regex_match(verb, rule)) return role;
  }
  return kOther;
}

// Numbers that a newer header no longer names were functions once.
bool is_named(const Function& function) {
  static const std::regex kPlaceholder(R"(cuda\d+|SIZE|FORCE_INT)");
  return !std::regex_match(function.name, kPlaceholder);
}

TEST(CuptiFunctions, EveryRuntimeFunctionHasTheRoleItsNameSays) {
  const std::vector<Function> functions = functions_of("cupti_runtime_cbid.h");
  ASSERT_GT(functions.size(), 400u);
  for (const Function& function : functions) {
    if (!is_named(function)) continue;
    EXPECT_EQ(role_of(runtime_functions(), function.number), role_by_name(function.name)) << function.name;
  }
}

TEST(CuptiFunctions, EveryDriverFunctionHasTheRoleItsNameSays) {
  const std::vector<Function> functions = functions_of("cupti_driver_cbid.h");
  ASSERT_GT(functions.size(), 700u);
  for (const Function& function : functions) {
    if (!is_named(function)) continue;
    EXPECT_EQ(role_of(driver_functions(), function.number), role_by_name(function.name)) << function.name;
  }
}

TEST(CuptiFunctions, ThoseOfTheThreadsDefaultStreamSayItInTheirNames) {
  for (const Function& function : functions_of("cupti_driver_cbid.h")) {
    if (!is_named(function) || !needs_callback(role_by_name(function.name))) continue;
    EXPECT_EQ(has_thread_stream(function.number), function.name.ends_with("_ptsz")) << function.name;
  }
}

TEST(CuptiCallbacks, TheDefaultStreamsHaveTheseHandles) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(CU_STREAM_LEGACY), kStreamLegacy);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(CU_STREAM_PER_THREAD), kStreamPerThread);
}

}  // namespace
}  // namespace corun::cupti
