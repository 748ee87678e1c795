// In which order do programs that time-slice one GPU have their turns? Four processes create a context, a channel and
// work in orders that the trials choose, each independently; a kernel of every process watches the device's clock and
// notes its turns. Prints a line of JSON for each round: the orders, and every turn as [process, begin, end].
//
//   turn_order [TRIALS] [ROUNDS]
#include <cuda_runtime.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

constexpr int kProcesses = 4, kMost = 2000;

struct Turn {
  unsigned long long begin, end;
};

struct Mailbox {
  volatile int wanted, done;  // number of the command asked for, and of the last one carried out
  volatile int command;       // 1 context, 2 stream and a small kernel, 3 wake, 4 end
  volatile int mode;
  volatile unsigned long long begin_ns;
  volatile int turns;
  Turn turn[kMost];
};

static Mailbox* box;

static unsigned long long now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

__device__ unsigned long long clock_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

// Spins for `length` ns of the device's clock; a gap over 60 us is a turn of other programs.
__global__ void watch(unsigned long long length, Turn* turns, int* count) {
  const unsigned long long begin = clock_ns();
  unsigned long long last = begin, from = begin;
  int n = *count;
  while (last < begin + length) {
    const unsigned long long t = clock_ns();
    if (t > last + 60000) {
      if (n < kMost) turns[n++] = {from, last};
      from = t;
    }
    last = t;
  }
  if (n < kMost) turns[n++] = {from, last};
  *count = n;
}

#define CHECK(call)                                                \
  if (cudaError_t error = (call)) {                                \
    fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
    exit(1);                                                       \
  }

// Mode 0: one kernel of 120 ms. 1: 120 queued kernels of 1 ms. 2: kernels of 1 ms, each waited for.
static void wake(Mailbox& mail, cudaStream_t stream, Turn* turns, int* count) {
  CHECK(cudaMemsetAsync(count, 0, sizeof(int), stream));
  const int kernels = mail.mode == 0 ? 1 : 120;
  for (int i = 0; i < kernels; ++i) {
    watch<<<1, 1, 0, stream>>>(mail.mode == 0 ? 120000000 : 1000000, turns, count);
    if (i == 0) mail.begin_ns = now_ns();
    if (mail.mode == 2) CHECK(cudaStreamSynchronize(stream));
    if (i == 0) mail.done = mail.wanted;  // launched: the next process may wake
  }
  CHECK(cudaStreamSynchronize(stream));
  int n = 0;
  CHECK(cudaMemcpy(&n, count, sizeof(n), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(mail.turn, turns, n * sizeof(Turn), cudaMemcpyDeviceToHost));
  mail.turns = n;
}

static void serve(Mailbox& mail) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  cudaStream_t stream = nullptr;
  Turn* turns = nullptr;
  int* count = nullptr;
  for (int seen = 0;;) {
    while (mail.wanted == seen) usleep(50);
    seen = mail.wanted;
    if (mail.command == 1) CHECK(cudaFree(nullptr));
    if (mail.command == 2) {
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      CHECK(cudaMalloc(&turns, kMost * sizeof(Turn)));
      CHECK(cudaMalloc(&count, sizeof(int)));
      CHECK(cudaMemset(count, 0, sizeof(int)));
      watch<<<1, 1, 0, stream>>>(1000, turns, count);
      CHECK(cudaStreamSynchronize(stream));
    }
    if (mail.command == 3) {
      mail.turns = -1;
      wake(mail, stream, turns, count);
    }
    if (mail.command == 4) exit(0);
    mail.done = seen;
  }
}

static void ask(int process, int command, bool is_awaited = true) {
  Mailbox& mail = box[process];
  mail.command = command;
  mail.wanted = mail.wanted + 1;
  while (is_awaited && mail.done != mail.wanted) usleep(20);
}

struct Order {
  int at[kProcesses];
};

static Order shuffled() {
  Order order = {{0, 1, 2, 3}};
  for (int i = kProcesses - 1; i > 0; --i) {
    const int j = rand() % (i + 1), kept = order.at[i];
    order.at[i] = order.at[j];
    order.at[j] = kept;
  }
  return order;
}

static void print(const char* name, const Order& o) {
  printf("\"%s\": [%d, %d, %d, %d], ", name, o.at[0], o.at[1], o.at[2], o.at[3]);
}

static void play_round(int trial, int round, const Order& contexts, const Order& channels) {
  const Order wakes = shuffled();
  const int mode = round % 3;
  for (int i = 0; i < kProcesses; ++i) box[i].mode = mode;
  for (int i : wakes.at) {
    ask(i, 3);
    usleep(500);
  }
  for (int i = 0; i < kProcesses; ++i)
    while (box[i].turns < 0) usleep(100);
  printf("{\"trial\": %d, \"round\": %d, \"mode\": %d, ", trial, round, mode);
  print("contexts", contexts);
  print("channels", channels);
  print("wakes", wakes);
  printf("\"turns\": [");
  const char* comma = "";
  for (int i = 0; i < kProcesses; ++i) {
    for (int t = 0; t < box[i].turns; ++t) {
      printf("%s[%d, %llu, %llu]", comma, i, box[i].turn[t].begin, box[i].turn[t].end);
      comma = ", ";
    }
  }
  printf("]}\n");
  fflush(stdout);
  usleep(30000);
}

static void play_trial(int trial, int rounds) {
  pid_t children[kProcesses];
  for (int i = 0; i < kProcesses; ++i) {
    box[i] = Mailbox{};
    children[i] = fork();
    if (children[i] == 0) serve(box[i]);
  }
  const Order contexts = shuffled(), channels = shuffled();
  for (int i : contexts.at) ask(i, 1);
  for (int i : channels.at) ask(i, 2);
  for (int round = 0; round < rounds; ++round) play_round(trial, round, contexts, channels);
  for (int i = 0; i < kProcesses; ++i) ask(i, 4, false);
  for (pid_t child : children) waitpid(child, nullptr, 0);
}

int main(int count, char** words) {
  const int trials = count > 1 ? atoi(words[1]) : 8, rounds = count > 2 ? atoi(words[2]) : 9;
  srand(7);
  box = static_cast<Mailbox*>(
      mmap(nullptr, kProcesses * sizeof(Mailbox), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int trial = 0; trial < trials; ++trial) play_trial(trial, rounds);
}
