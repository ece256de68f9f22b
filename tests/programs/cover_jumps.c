// What gcov has to get right: longjmp, several loops on one line, a switch that falls through.
// clang-format off
#include <stdio.h>
#include <setjmp.h>
#include <stdlib.h>
#include "cover.h"
static jmp_buf jb;
static int helper(int n) { if (n > 2) longjmp(jb, 1); return n; }
int work(int n) { int s = 0; for (int i = 0; i < n; i++) { s += in_range(i); while (s > 5) s--; do s++; while (s % 3); } return s; }
int main(int argc, char **argv) {
  int n = atoi(argv[1]), t = 0;
  if (setjmp(jb) == 0) t = helper(n); else t = -1;
  for (int i = 0, k = 3; i < n && k > 0; i++) t += (i & 1) ? work(i) : i > 2 || work(3);
  switch (n) { case 1: t++; break; case 2: t--; case 5: t += 4; break; default: break; }
  printf("%d\n", t);
  if (n > 100) exit(3);
  return 0;
}
