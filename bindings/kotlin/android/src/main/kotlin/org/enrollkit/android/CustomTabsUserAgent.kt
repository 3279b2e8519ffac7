// Unbuilt: no Android SDK could be had where this was written.

package org.enrollkit.android

import android.content.ActivityNotFoundException
import android.net.Uri
import androidx.activity.ComponentActivity
import androidx.browser.customtabs.CustomTabsIntent
import androidx.lifecycle.Lifecycle
import androidx.lifecycle.LifecycleEventObserver
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withContext
import org.enrollkit.EnrollException
import org.enrollkit.Status
import org.enrollkit.UserAgent

/**
 * The browser step in a custom tab: the user's own browser, with its sessions, over the app (RFC 8252 §6). The redirect
 * comes back to [RedirectActivity]. A user who closes the tab has left: `open` gives null.
 *
 * Where the system ended the process meanwhile, the redirect starts the app anew: see [RedirectActivity].
 */
public class CustomTabsUserAgent(private val activity: ComponentActivity) : UserAgent {
  override suspend fun open(url: String, redirectUri: String): String? = withContext(Dispatchers.Main.immediate) {
    val redirect = Redirects.expect(activity.componentName)
    val left = CompletableDeferred<Unit>()
    val observer = returnObserver(left)
    activity.lifecycle.addObserver(observer)
    try {
      CustomTabsIntent.Builder().setShowTitle(true).build().launchUrl(activity, Uri.parse(url))
      select {
        // First of the two: a redirect is told before this activity is resumed.
        redirect.onAwait { it }
        left.onAwait { null }
      }
    } catch (fault: ActivityNotFoundException) {
      throw noBrowser(fault)
    } finally {
      activity.lifecycle.removeObserver(observer)
      Redirects.forget(redirect)
    }
  }

  /** Tells when the activity was covered and is in front again. */
  private fun returnObserver(left: CompletableDeferred<Unit>): LifecycleEventObserver {
    var wasCovered = false
    return LifecycleEventObserver { _, event ->
      when (event) {
        Lifecycle.Event.ON_PAUSE -> wasCovered = true
        Lifecycle.Event.ON_RESUME -> if (wasCovered) left.complete(Unit)
        else -> Unit
      }
    }
  }

  private fun noBrowser(fault: ActivityNotFoundException): EnrollException =
    EnrollException(Status.UNSUPPORTED, "no browser is on this device", cause = fault)
}
