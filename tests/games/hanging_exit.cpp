// A driver that hangs when the program that loaded it ends.
#include <unistd.h>

__attribute__((destructor)) static void hang() {
  for (;;) pause();
}
