/* Tests a rename that never replaces an existing file, in the form for Android below API level 30:
 * Sources/CPosix/rename-locked.h locks the folder, checks that the new name is free, and renames. The header
 * is portable, so its code also runs here. Functions of this file replace the three system calls of that
 * code, and check at each call whether the folder is locked. */

/* _GNU_SOURCE is undefined, because the shims are compiled without it (Sources/CPosix/shim.h). */
#undef _GNU_SOURCE
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include "../../../Sources/CPosix/shim.h"
#include "check.h"

static int seen_flock(int fd, int operation);
static int seen_fstatat(int folder, const char *name, struct stat *status, int flags);
static int seen_renameat(int from, const char *old, int to, const char *name);
#define flock seen_flock
#define fstatat seen_fstatat
#define renameat seen_renameat
#include "../../../Sources/CPosix/rename-locked.h"
#undef flock
#undef fstatat
#undef renameat

static char path[] = "/tmp/enroll-rename-XXXXXX";
static int folder = -1, other = -1; /* the same folder, opened twice */
static int looks_with_lock, renames_with_lock, locked_descriptor, forks_before_rename, child_pipe[2];
static pid_t child;
static int about_to_lock = -1; /* a byte is written here before each lock */

/* Whether the folder is locked. If it is, a lock through the folder's other descriptor fails. */
static int is_locked(void) {
  if (flock(other, LOCK_EX | LOCK_NB) == 0) {
    flock(other, LOCK_UN);
    return 0;
  }
  return errno == EWOULDBLOCK;
}

static int seen_flock(int fd, int operation) {
  if (operation == LOCK_EX) locked_descriptor = fd;
  if (about_to_lock >= 0 && operation == LOCK_EX && write(about_to_lock, "", 1) != 1) return -1;
  return flock(fd, operation);
}

static int seen_fstatat(int at, const char *name, struct stat *status, int flags) {
  looks_with_lock += is_locked();
  return fstatat(at, name, status, flags);
}

static int seen_renameat(int from, const char *old, int to, const char *name) {
  renames_with_lock += is_locked();
  if (forks_before_rename && (child = fork()) == 0) {
    char byte;
    close(child_pipe[1]);
    while (read(child_pipe[0], &byte, 1) > 0) {}
    _exit(0);
  }
  return renameat(from, old, to, name);
}

static void remove_folder(void) {
  if (folder < 0) return;
  unlinkat(folder, "old", 0);
  unlinkat(folder, "new", 0);
  close(folder);
  close(other);
  folder = other = -1;
  rmdir(path);
}

static void fresh_folder(void) {
  remove_folder();
  strcpy(path + sizeof path - sizeof "XXXXXX", "XXXXXX");
  CHECK(mkdtemp(path) != NULL);
  folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  other = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  CHECK(folder >= 0 && other >= 0);
  looks_with_lock = renames_with_lock = forks_before_rename = 0;
  locked_descriptor = -1;
  about_to_lock = -1;
}

static void write_file(const char *name, const char *content) {
  int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(fd >= 0);
  ssize_t written = write(fd, content, strlen(content));
  close(fd);
  CHECK_NUMBER(strlen(content), written);
}

static const char *content_of(const char *name) {
  static char content[64];
  int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  ssize_t count = read(fd, content, sizeof content - 1);
  close(fd);
  content[count < 0 ? 0 : count] = '\0';
  return content;
}

/* The number that the next descriptor to be opened will get. */
static int next_descriptor(void) {
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(fd);
  return fd;
}

TEST("a file gets a name that nothing has, with the folder locked while it looks and renames") {
  fresh_folder();
  write_file("old", "mine");
  int next = next_descriptor();
  CHECK_NUMBER(0, enroll_system_rename_locked(folder, "old", "new"));
  CHECK_TEXT("mine", content_of("new"));
  CHECK(content_of("old") == NULL);
  CHECK(locked_descriptor >= 0 && locked_descriptor != folder);
  CHECK_NUMBER(1, looks_with_lock);
  CHECK_NUMBER(1, renames_with_lock);
  CHECK(!is_locked());
  CHECK_NUMBER(next, next_descriptor());
}

TEST("a file that has the name stays, and so does the other: EEXIST") {
  fresh_folder();
  write_file("old", "mine");
  write_file("new", "theirs");
  int next = next_descriptor();
  errno = 0;
  CHECK_NUMBER(-1, enroll_system_rename_locked(folder, "old", "new"));
  CHECK_NUMBER(EEXIST, errno);
  CHECK_TEXT("theirs", content_of("new"));
  CHECK_TEXT("mine", content_of("old"));
  CHECK(!is_locked());
  CHECK_NUMBER(next, next_descriptor());
}

TEST("a link that leads nowhere has the name, too") {
  fresh_folder();
  write_file("old", "mine");
  CHECK_NUMBER(0, symlinkat("nowhere", folder, "new"));
  CHECK_NUMBER(-1, enroll_system_rename_locked(folder, "old", "new"));
  CHECK_NUMBER(EEXIST, errno);
  CHECK_TEXT("mine", content_of("old"));
}

TEST("a file that is not there cannot be renamed, and the folder is unlocked again") {
  fresh_folder();
  CHECK_NUMBER(-1, enroll_system_rename_locked(folder, "old", "new"));
  CHECK_NUMBER(ENOENT, errno);
  CHECK(!is_locked());
}

TEST("without a folder it fails, and says why") {
  fresh_folder();
  int closed = next_descriptor();
  CHECK_NUMBER(-1, enroll_system_rename_locked(closed, "old", "new"));
  CHECK_NUMBER(EBADF, errno);
}

TEST("a child that was forked meanwhile does not keep the folder locked") {
  fresh_folder();
  write_file("old", "mine");
  CHECK_NUMBER(0, pipe(child_pipe));
  forks_before_rename = 1;
  int done = enroll_system_rename_locked(folder, "old", "new");
  int locked = is_locked();
  close(child_pipe[1]);
  close(child_pipe[0]);
  if (child > 0) waitpid(child, NULL, 0);
  CHECK_NUMBER(0, done);
  CHECK(child > 0);
  CHECK(!locked);
}

static int result_elsewhere, errno_elsewhere;
static void *rename_elsewhere(void *unused) {
  (void)unused;
  result_elsewhere = enroll_system_rename_locked(folder, "old", "new");
  errno_elsewhere = errno;
  /* Writes a byte also if the rename took no lock, because the test waits for at least one byte. */
  return write(about_to_lock, "", 1) == 1 ? &about_to_lock : NULL;
}

TEST("a rename waits for another, and then finds what that one made") {
  int announcement[2];
  char byte;
  pthread_t thread;
  fresh_folder();
  write_file("old", "mine");
  CHECK_NUMBER(0, pipe(announcement));
  about_to_lock = announcement[1];
  /* The lock belongs to the same descriptor that the other thread renames with. */
  CHECK_NUMBER(0, flock(folder, LOCK_EX));
  CHECK_NUMBER(0, pthread_create(&thread, NULL, rename_elsewhere, NULL));
  /* Waits until the thread is about to take the lock, or has finished without one. */
  ssize_t announced = read(announcement[0], &byte, 1);
  write_file("new", "theirs");
  flock(folder, LOCK_UN);
  pthread_join(thread, NULL);
  about_to_lock = -1;
  close(announcement[0]);
  close(announcement[1]);
  CHECK_NUMBER(1, announced);
  CHECK_NUMBER(-1, result_elsewhere);
  CHECK_NUMBER(EEXIST, errno_elsewhere);
  CHECK_TEXT("theirs", content_of("new"));
  CHECK_TEXT("mine", content_of("old"));
}

int main(int count, char **arguments) {
  int status = check_main(count, arguments);
  remove_folder();
  return status;
}
