// Limits that the system sets for a process: the size of a core dump, and the space on a filesystem. shim.h includes
// this file before the back ends.
#ifndef ENROLL_CPOSIX_ROOM_H
#define ENROLL_CPOSIX_ROOM_H
#ifdef __APPLE__
#include <sys/mount.h>
#else
#include <sys/vfs.h>
#endif

// Sets the soft limit for the size of a core dump. The hard limit stays, so the process may raise the soft limit again.
// Returns 0, or -1 with errno.
static inline int enroll_system_limit_core(rlim_t size) {
  struct rlimit core;
  if (getrlimit(RLIMIT_CORE, &core) != 0) return -1;
  core.rlim_cur = size;
  return setrlimit(RLIMIT_CORE, &core);
}

// The space on a filesystem: free bytes, whether another file can be made, and whether the filesystem is read-only.
struct enroll_posix_room {
  uint64_t bytes;
  _Bool takes_files;
  _Bool is_read_only;
};
// The space that this user may still use on the filesystem of a file. Returns 0, or -1 with errno.
static inline int enroll_posix_room_of(int fd, struct enroll_posix_room *room) {
  struct statfs found;
  if (fstatfs(fd, &found) != 0) return -1;
  // A filesystem that reports no blocks at all has no limit.
  uint64_t blocks = geteuid() == 0 ? (uint64_t)found.f_bfree : (uint64_t)found.f_bavail;
  uint64_t size = (uint64_t)found.f_bsize;
  room->bytes = found.f_blocks == 0 || blocks > UINT64_MAX / (size + 1) ? UINT64_MAX : blocks * size;
  room->takes_files = found.f_files == 0 || found.f_ffree > 0;
  room->is_read_only = (found.f_flags & 1 /* ST_RDONLY of Linux, MNT_RDONLY of Darwin */) != 0;
  return 0;
}
#endif
