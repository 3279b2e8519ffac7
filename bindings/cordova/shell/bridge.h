/*
 * bridge.h - the native part of the plugin, for WebKitGTK: what src/android and src/ios are elsewhere.
 *
 * The page's cordova.exec (www/cordova.js) says what it wants in a DOM event; a script in a world of its own, which
 * only the top frame of the app's own origin gets, carries it here; the answer goes back the same way. A page or frame of
 * any other origin has nothing to talk to.
 */
#ifndef HYBRID_SHELL_BRIDGE_H
#define HYBRID_SHELL_BRIDGE_H

#include <webkit2/webkit2.h>

/** The origin of the app's pages, with the slash. */
#define APP_ORIGIN "app://localhost/"

typedef struct bridge bridge;

/** Puts the bridge's script and message handler into `manager`, which is the one of the view given later. */
bridge *bridge_new(WebKitUserContentManager *manager, const char *application_id);

/** The view whose page is talked to. */
void bridge_set_view(bridge *bridge, WebKitWebView *view);

/** A URL reached the app: kept until the page took it, also across a reload. */
void bridge_take_url(bridge *bridge, const char *url);

/** Another page is about to be loaded: its predecessor's clients are closed, its calls cancelled. */
void bridge_reset(bridge *bridge);

/** Ends: clients are closed, and what they are storing is stored first. */
void bridge_free(bridge *bridge);

#endif
