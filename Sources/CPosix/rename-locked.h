// A rename that does not replace an existing file, for systems on which neither renameat2(2) nor linkat(2) may be
// called. While the folder is locked (flock(2)), the function checks that the new name is free, and then renames the
// file. Threads and processes that rename with this function exclude each other. A file that other code creates between
// the check and the rename is replaced.
#ifndef ENROLL_CPOSIX_RENAME_LOCKED_H
#define ENROLL_CPOSIX_RENAME_LOCKED_H
// Renames the file while the folder is locked. Returns 0, or -1 with errno; errno is EEXIST if the new name exists.
static inline int enroll_system_rename_locked(int folder, const char *old, const char *name) {
  // The lock needs its own descriptor: a lock belongs to the open file description, and threads share the description
  // of `folder`.
  int lock = enroll_posix_own(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock < 0) return -1;
  int done = flock(lock, LOCK_EX);
  if (done == 0) {
    struct stat status;
    done = -1;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
      errno = EEXIST;
    else if (errno == ENOENT)
      done = renameat(folder, old, folder, name);
    int saved = errno;
    // Unlocks explicitly, because a child that was forked meanwhile also has the descriptor.
    flock(lock, LOCK_UN);
    errno = saved;
  }
  int saved = errno;
  close(lock);
  errno = saved;
  return done;
}
#endif
