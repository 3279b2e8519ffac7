// Locks on whole files (fcntl(2)); each lock belongs to one process. Unlike with flock(2), a program can ask which
// process holds the lock, without taking the lock itself.
#ifndef ENROLL_CPOSIX_FILE_LOCK_H
#define ENROLL_CPOSIX_FILE_LOCK_H
#include <fcntl.h>
#include <unistd.h>
// Locks the file, without waiting. The lock ends with the process, or when the process closes any descriptor of the
// file.
static inline int enroll_posix_lock_file(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_SETLK, &lock);
}
// The other process that holds the lock; 0 if no other process holds the lock, -1 if that process is in another
// container.
static inline pid_t enroll_posix_lock_holder(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid > 0 ? lock.l_pid : -1;
}
#endif
