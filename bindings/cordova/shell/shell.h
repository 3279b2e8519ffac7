/* shell.h - what main.c and, in the tests' build, remote.c share. */
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
  /** What else the view may load: nothing, except in tests that let an attacker in. */
  const char *permitted;
} shell;

extern shell the_shell;

#ifdef HYBRID_SHELL_TESTING
/** Takes orders at a Unix socket. Not in the app that users get. */
void remote_listen(const char *path);
#endif

#endif
