// Renaming over nothing that exists where neither renameat2(2) nor linkat(2) may be called: a look and a rename, with the
// folder locked (flock(2)). Two threads or processes that rename with this function exclude each other. A file that something
// else makes between the two is replaced.
#ifndef ENROLL_CPOSIX_RENAME_LOCKED_H
#define ENROLL_CPOSIX_RENAME_LOCKED_H
// 0, or -1 with errno, EEXIST where something has the name.
static inline int enroll_system_rename_locked(int folder, const char *old, const char *name) {
  // A descriptor of its own: a lock belongs to the opening, and another thread uses `folder`.
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
    // A child that was forked meanwhile holds the descriptor, too.
    flock(lock, LOCK_UN);
    errno = saved;
  }
  int saved = errno;
  close(lock);
  errno = saved;
  return done;
}
#endif
