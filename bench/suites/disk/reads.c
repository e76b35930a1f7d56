// Reads random blocks of a device with a number of threads for some seconds, and prints how many a second.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 4096, MAX_THREADS = 64 };

static int device;
static uint64_t blocks;
static atomic_bool is_over;

static void *count_reads(void *seed) {
  uint64_t state = (uintptr_t)seed * 0x9e3779b97f4a7c15;
  uintptr_t count = 0;
  void *block = aligned_alloc(BLOCK, BLOCK);
  for (; !is_over; count += 1) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if (pread(device, block, BLOCK, state % blocks * BLOCK) != BLOCK) exit(1);
  }
  return (void *)count;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  device = open(argv[1], O_RDONLY | O_DIRECT);
  if (device < 0) return 1;
  blocks = lseek(device, 0, SEEK_END) / BLOCK;
  const int threads = atoi(argv[2]), seconds = atoi(argv[3]);
  if (threads < 1 || threads > MAX_THREADS || seconds < 1) return 2;
  pthread_t running[MAX_THREADS];
  for (uintptr_t i = 0; i < threads; i += 1)
    if (pthread_create(&running[i], NULL, count_reads, (void *)(i + 1))) return 1;
  sleep(seconds);
  is_over = true;
  uint64_t sum = 0;
  for (int i = 0; i < threads; i += 1) {
    void *count;
    pthread_join(running[i], &count);
    sum += (uintptr_t)count;
  }
  printf("reads %llu\n", (unsigned long long)(sum / seconds));
}
