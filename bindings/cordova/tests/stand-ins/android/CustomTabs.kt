@file:Suppress("UNUSED_PARAMETER")

package androidx.browser.customtabs

import android.content.Context
import android.net.Uri

class CustomTabsIntent {
  fun launchUrl(context: Context, url: Uri) = Unit

  class Builder {
    fun setShowTitle(isShown: Boolean): Builder = this

    fun build() = CustomTabsIntent()
  }
}
