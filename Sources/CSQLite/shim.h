// SQLite, for EnrollGatewayStore only. Macros that Swift cannot import become functions here.
#ifndef ENROLL_CSQLITE_SHIM_H
#define ENROLL_CSQLITE_SHIM_H
#include <sqlite3.h>

// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
static inline int enroll_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int size) {
  return sqlite3_bind_text(statement, index, text, size, SQLITE_TRANSIENT);
}
static inline int enroll_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int size) {
  return sqlite3_bind_blob(statement, index, bytes, size, SQLITE_TRANSIENT);
}
#endif
