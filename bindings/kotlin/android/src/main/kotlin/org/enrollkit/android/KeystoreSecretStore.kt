// Unbuilt: this was written without an Android SDK.

package org.enrollkit.android

import android.content.Context
import android.os.UserManager
import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import android.util.AtomicFile
import java.io.File
import java.io.FileNotFoundException
import java.security.KeyStore
import javax.crypto.Cipher
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec
import org.enrollkit.SecretStore

/**
 * Secrets in files that are sealed with a key of the Android Keystore (AES-256-GCM). The key never leaves the
 * device's key hardware, if the device has any. The files are left out of backups: on another device they could not
 * be opened.
 *
 * The key requires no fingerprint, because tokens are renewed in the background. Until the user has unlocked the
 * device for the first time after a start, every call fails with [org.enrollkit.Status.STORE_LOCKED].
 */
public class KeystoreSecretStore(
  context: Context,
  /** The key's name in the Keystore. */
  private val alias: String = "org.enrollkit",
) : SecretStore {
  private val application = context.applicationContext

  override fun load(name: String): ByteArray? {
    requireUnlocked()
    val sealed = try {
      file(name).readFully()
    } catch (_: FileNotFoundException) {
      return null
    }
    // Without its key the file can never be opened again; the core decides what that means for the store.
    val key = existingKey() ?: return null
    require(sealed.size > 1 + NONCE_BYTES && sealed[0] == FORMAT) { "expected a sealed secret of format $FORMAT" }
    val cipher = Cipher.getInstance(TRANSFORMATION)
    cipher.init(Cipher.DECRYPT_MODE, key, GCMParameterSpec(TAG_BITS, sealed, 1, NONCE_BYTES))
    cipher.updateAAD(name.toByteArray())
    return cipher.doFinal(sealed, 1 + NONCE_BYTES, sealed.size - 1 - NONCE_BYTES)
  }

  override fun save(name: String, secret: ByteArray) {
    requireUnlocked()
    val cipher = Cipher.getInstance(TRANSFORMATION)
    // The Keystore chooses the nonce itself, and refuses one from outside.
    cipher.init(Cipher.ENCRYPT_MODE, existingKey() ?: newKey())
    cipher.updateAAD(name.toByteArray())
    val sealed = cipher.doFinal(secret)
    check(cipher.iv.size == NONCE_BYTES) { "expected a nonce of $NONCE_BYTES bytes, got ${cipher.iv.size}" }
    val file = file(name)
    val stream = file.startWrite()
    try {
      stream.write(byteArrayOf(FORMAT))
      stream.write(cipher.iv)
      stream.write(sealed)
      // Synchronizes the new file with the disk, and replaces the old file in one step.
      file.finishWrite(stream)
    } catch (fault: Throwable) {
      file.failWrite(stream)
      throw fault
    }
  }

  override fun remove(name: String) {
    requireUnlocked()
    file(name).delete()
  }

  private fun file(name: String): AtomicFile {
    val folder = File(application.noBackupFilesDir, "enrollkit-secrets")
    folder.mkdirs()
    return AtomicFile(File(folder, name))
  }

  private fun requireUnlocked() {
    val users = application.getSystemService(Context.USER_SERVICE) as UserManager
    if (!users.isUserUnlocked) throw SecretStore.locked()
  }

  private fun existingKey(): SecretKey? =
    KeyStore.getInstance(PROVIDER).apply { load(null) }.getKey(alias, null) as SecretKey?

  private fun newKey(): SecretKey {
    val generator = KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, PROVIDER)
    generator.init(
      KeyGenParameterSpec.Builder(alias, KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT)
        .setKeySize(KEY_BITS)
        .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
        .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
        .setRandomizedEncryptionRequired(true)
        .build(),
    )
    return generator.generateKey()
  }

  private companion object {
    const val PROVIDER = "AndroidKeyStore"
    const val TRANSFORMATION = "AES/GCM/NoPadding"
    const val KEY_BITS = 256
    const val TAG_BITS = 128
    const val NONCE_BYTES = 12
    const val FORMAT: Byte = 1
  }
}
