// Limits that the system sets for a process: the size of a core dump, and the room on a filesystem. Included by shim.h before the back ends.
#ifndef ENROLL_CPOSIX_ROOM_H
#define ENROLL_CPOSIX_ROOM_H
// The limit of a core dump's size that a process may raise again: the hard one stays. 0, or -1 with errno.
static inline int enroll_system_limit_core(rlim_t size) {
  struct rlimit core;
  if (getrlimit(RLIMIT_CORE, &core) != 0) return -1;
  core.rlim_cur = size;
  return setrlimit(RLIMIT_CORE, &core);
}

// Room on a filesystem: bytes, whether another file can be made, whether nothing can be written at all.
struct enroll_posix_room {
  uint64_t bytes;
  _Bool takes_files;
  _Bool is_read_only;
};
#endif
