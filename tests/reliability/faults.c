/* Let the n-th change of a folder fail, or end the process there: see test_faults.py.
 *
 * Counted are opens for writing, writes, fsyncs, renames and unlinks below a folder. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[4096];
static long at = -1, count;
static int kills;

/* Begin to count below a folder; call number `n` fails, or kills. */
void faults_arm(const char *path, long n, int kill_it) {
  snprintf(folder, sizeof folder, "%s", path);
  count = 0;
  at = n;
  kills = kill_it;
}

long faults_count(void) { return count; }

static int is_counted(const char *path) {
  return at >= 0 && path && !strncmp(path, folder, strlen(folder));
}

static int is_counted_file(int file) {
  char link[64], path[4096];
  if (at < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return is_counted(path);
}

static int now(void) {
  if (++count != at) return 0;
  if (kills) kill(getpid(), SIGKILL);
  errno = EIO;
  return 1;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define OPEN(name)                                                        \
  int name(const char *path, int flags, ...) {                            \
    REAL(name);                                                           \
    va_list rest;                                                         \
    va_start(rest, flags);                                                \
    mode_t mode = va_arg(rest, mode_t);                                   \
    va_end(rest);                                                         \
    if (flags & (O_WRONLY | O_RDWR) && is_counted(path) && now()) return -1; \
    return real(path, flags, mode);                                       \
  }
OPEN(open)
OPEN(open64)

ssize_t write(int file, const void *data, size_t size) {
  REAL(write);
  if (is_counted_file(file)) {
    if (count + 1 == at) real(file, data, size / 2); /* some of it is written */
    if (now()) return -1;
  }
  return real(file, data, size);
}

int fsync(int file) {
  REAL(fsync);
  return is_counted_file(file) && now() ? -1 : real(file);
}

int rename(const char *from, const char *to) {
  REAL(rename);
  return is_counted(to) && now() ? -1 : real(from, to);
}

int unlink(const char *path) {
  REAL(unlink);
  return is_counted(path) && now() ? -1 : real(path);
}
