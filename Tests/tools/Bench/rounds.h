/* rounds.h - for measurements in alternating rounds: a clock, medians, and the line that a program of the bench
 * prints. */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline int64_t bench_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int bench_by_number(const void *left, const void *right) {
  double difference = *(const double *)left - *(const double *)right;
  return difference < 0 ? -1 : difference > 0;
}

/* The quantile: the number below which this share (0 to 1) of the numbers lies. Sorts the numbers. */
static double bench_share(double *numbers, int count, double share) {
  qsort(numbers, (size_t)count, sizeof *numbers, bench_by_number);
  int index = (int)(share * count);
  return numbers[index < count ? index : count - 1];
}

static inline double *bench_numbers(int count) {
  double *numbers = calloc((size_t)count, sizeof *numbers);
  if (numbers == NULL) abort();
  return numbers;
}

/* Prints the medians of both sides and of the ratios, and the quartiles of the ratios. `more` has further members of
 * the JSON object, or is "". */
static inline void bench_line(const char *what, double *ours, double *theirs, double *ratios, int count,
                              const char *unit, const char *more) {
  printf("{\"what\":\"%s\",\"ours\":%.1f,\"theirs\":%.1f,\"unit\":\"%s\",\"ratio\":%.3f,\"low\":%.3f,\"high\":%.3f%s}\n",
         what, bench_share(ours, count, 0.5), bench_share(theirs, count, 0.5), unit, bench_share(ratios, count, 0.5),
         bench_share(ratios, count, 0.25), bench_share(ratios, count, 0.75), more);
  fflush(stdout);
}

#endif
