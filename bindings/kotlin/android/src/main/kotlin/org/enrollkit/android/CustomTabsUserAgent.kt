// Unbuilt: this was written without an Android SDK.

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
 * The browser step in a custom tab: the user's own browser, with its sessions, over the app (RFC 8252 §6).
 * [RedirectActivity] receives the redirect. If the user closes the tab, `open` returns null.
 *
 * If the system ended the process in the meantime, the redirect starts the app again: see [RedirectActivity].
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
        // This clause must come first, because a redirect arrives before this activity is resumed.
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

  /** Completes [left] when the activity was covered and is in front again. */
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
    EnrollException(Status.UNSUPPORTED, "this device has no browser", cause = fault)
}
