// The real class is in bindings/kotlin/android, and needs an Android SDK.
@file:Suppress("UNUSED_PARAMETER")

package org.enrollkit.android

import android.content.Context
import org.enrollkit.SecretStore

class KeystoreSecretStore(context: Context) : SecretStore {
  override fun load(name: String): ByteArray? = null

  override fun save(name: String, secret: ByteArray) = Unit

  override fun remove(name: String) = Unit
}
