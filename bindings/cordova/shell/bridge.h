/*
 * bridge.h - the native part of the plugin for WebKitGTK, as src/android and src/ios are for phones.
 *
 * The page's cordova.exec (www/cordova.js) puts a request into a DOM event. A script in a separate script world, which
 * exists only in the top frame of the app's own origin, passes it to this bridge; the answer returns the same way.
 * Pages and frames of any other origin have no bridge.
 */
#ifndef HYBRID_SHELL_BRIDGE_H
#define HYBRID_SHELL_BRIDGE_H

#include <webkit2/webkit2.h>

/** The origin of the app's pages, with the slash. */
#define APP_ORIGIN "app://localhost/"

typedef struct bridge bridge;

/** Puts the bridge's script and message handler into `manager`, the content manager of the view that bridge_set_view
 * gets later. */
bridge *bridge_new(WebKitUserContentManager *manager, const char *application_id);

/** Sets the view whose page the bridge serves. */
void bridge_set_view(bridge *bridge, WebKitWebView *view);

/** Keeps a URL that reached the app until the page takes it, also across a reload. */
void bridge_take_url(bridge *bridge, const char *url);

/** Another page is about to be loaded: the previous page's clients are closed, its calls cancelled. */
void bridge_reset(bridge *bridge);

/** Ends the bridge: clients are closed; renewals in progress are stored first. */
void bridge_free(bridge *bridge);

#endif
