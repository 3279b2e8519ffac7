/* shell.h - declarations that main.c and, in the tests' build, remote.c share. */
#ifndef HYBRID_SHELL_H
#define HYBRID_SHELL_H

#include <gtk/gtk.h>

#include "bridge.h"

typedef struct shell {
  GtkWindow *window;
  WebKitWebView *view;
  bridge *bridge;
  /** The Content-Security-Policy of the pages. */
  const char *policy;
  /** Other pages that the view may load: none, except in tests that let an attacker in. */
  const char *permitted;
} shell;

extern shell the_shell;

#ifdef HYBRID_SHELL_TESTING
/** Takes commands at a Unix socket. Only in the tests' build. */
void remote_listen(const char *path);
#endif

#endif
