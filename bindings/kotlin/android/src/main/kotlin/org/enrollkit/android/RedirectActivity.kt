// Unbuilt: this was written without an Android SDK.

package org.enrollkit.android

import android.app.Activity
import android.content.ComponentName
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import kotlinx.coroutines.CompletableDeferred

/**
 * Receives the redirects and links that the app's intent filters name, and shows nothing.
 *
 * The URL goes to the [CustomTabsUserAgent] that waits for one. If none waits, because the system ended the process or
 * because the URL is a link from an e-mail, the app's launcher activity is started with the URL as its intent's data:
 * pass it to `client.url.handle`, which recognizes it.
 *
 * Any app may send such an intent: the URL is not trusted, and a URL that no transaction waits for changes nothing.
 */
public class RedirectActivity : Activity() {
  override fun onCreate(savedInstanceState: Bundle?) {
    super.onCreate(savedInstanceState)
    receive(intent)
  }

  override fun onNewIntent(intent: Intent) {
    super.onNewIntent(intent)
    receive(intent)
  }

  private fun receive(intent: Intent) {
    val url = intent.dataString
    if (url != null) {
      val waiting = Redirects.deliver(url)
      val next = if (waiting != null) {
        Intent().setComponent(waiting)
      } else {
        packageManager.getLaunchIntentForPackage(packageName)?.setAction(Intent.ACTION_VIEW)?.setData(Uri.parse(url))
      }
      // The activity starts in the tab's task, and these flags close the tab.
      next?.addFlags(Intent.FLAG_ACTIVITY_CLEAR_TOP or Intent.FLAG_ACTIVITY_SINGLE_TOP)?.let(::startActivity)
    }
    finish()
  }
}

/** The user agent that waits for a redirect in this process. Only the main thread uses it. */
internal object Redirects {
  private var expected: Pair<CompletableDeferred<String>, ComponentName>? = null

  fun expect(activity: ComponentName): CompletableDeferred<String> =
    CompletableDeferred<String>().also { expected = it to activity }

  fun forget(redirect: CompletableDeferred<String>) {
    if (expected?.first === redirect) expected = null
  }

  /** Passes the URL to the user agent that waits for a redirect. Returns that agent's activity; null if none waits. */
  fun deliver(url: String): ComponentName? {
    val (redirect, activity) = expected ?: return null
    expected = null
    redirect.complete(url)
    return activity
  }
}
