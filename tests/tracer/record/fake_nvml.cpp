// A libnvidia-ml.so.1 with one GPU, which draws 300 W at 1410 MHz, and on which 1 GiB is in use, and 3 GiB once a file
// "allocated" is in the folder. Where a file "workers" is, there is a second GPU; the file's lines say who works: a
// process (0: that which asks) and the number of the GPU, after the first look.
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <fstream>

namespace {

struct Memory {
  unsigned long long total, free, used;
};

struct ProcessSample {
  unsigned process;
  unsigned long long time_us;
  unsigned sm_percent, memory_percent, encoder_percent, decoder_percent;
};

int gpus[2];

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char*, unsigned) { return 1; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = access("workers", F_OK) == 0 ? 2 : 1;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned number, void** device) {
  *device = &gpus[number];
  return 0;
}

int nvmlDeviceGetName(void*, char*, unsigned) { return 1; }

int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  std::strncpy(text, "GPU-01020304-0506-0708-090a-0b0c0d0e0f10", size);
  if (device == &gpus[1]) text[4] = '1';
  return 0;
}

int nvmlDeviceGetProcessUtilization(void* device, ProcessSample* samples, unsigned* count, unsigned long long since) {
  std::ifstream workers("workers");
  *count = 0;
  for (unsigned process = 0, number = 0; since > 0 && workers >> process >> number;)
    if (device == &gpus[number])
      samples[(*count)++] = {process == 0 ? static_cast<unsigned>(getpid()) : process, since + 1, 50, 0, 0, 0};
  if (since == 0) samples[(*count)++] = {0, 1, 0, 0, 0, 0};
  return 0;
}

int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {8ull << 30, 0, (access("allocated", F_OK) == 0 ? 3ull : 1ull) << 30};
  return 0;
}

/// 300 W.
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  *millijoules = static_cast<unsigned long long>(now.tv_sec) * 300'000 +
                 static_cast<unsigned long long>(now.tv_nsec) * 300 / 1'000'000;
  return 0;
}

int nvmlDeviceGetClockInfo(void*, unsigned kind, unsigned* mhz) {
  *mhz = kind == 1 ? 1410 : 0;
  return 0;
}

}  // extern "C"
