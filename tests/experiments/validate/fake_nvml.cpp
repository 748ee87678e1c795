// A device that draws 300 W at 1980 MHz, its clock lower at every second look, and is held back by its power cap.
extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int it = 0;
  *device = &it;
  return index == 0 ? 0 : 2;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  static unsigned looks = 0;
  *mhz = type == 1 ? (looks++ % 2 == 0 ? 1980u : 1800u) : 3201u;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 300'000;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  *celsius = 55;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x4 | 0x1;
  return 0;
}
}
