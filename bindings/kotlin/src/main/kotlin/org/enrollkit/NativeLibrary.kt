package org.enrollkit

import java.io.File
import java.io.IOException
import java.nio.file.Files

/** Finds and loads `libenroll_jni.so`, once for the process. */
internal object NativeLibrary {
  private const val JNI = "libenroll_jni.so"
  private const val CORE = "libenroll.so.0"
  private var isLoaded = false

  @Synchronized
  fun load(directory: File?) {
    if (isLoaded) return
    val place = directory ?: System.getProperty("enrollkit.library.path")?.let(::File)
    try {
      when {
        place != null -> loadFrom(place)
        carried(JNI) != null -> loadCarried()
        else -> System.loadLibrary("enroll_jni")
      }
    } catch (fault: LinkageError) {
      val where = place?.path ?: "the jar's ${platformFolder()} and java.library.path"
      throw EnrollException(Status.UNSUPPORTED, "$JNI was not found in $where: ${fault.message}", cause = fault)
    }
    checkVersion()
    isLoaded = true
  }

  private fun checkVersion() {
    val wanted = Native.headerAbiVersion()
    val found = Native.abiVersion()
    if (found ushr 16 != wanted ushr 16 || found < wanted) {
      throw EnrollException(
        Status.UNSUPPORTED,
        "expected libenroll with interface ${wanted ushr 16}.${wanted and 0xffff}, got ${found ushr 16}.${found and 0xffff}",
      )
    }
  }

  @Suppress("UnsafeDynamicallyLoadedCode")
  private fun loadFrom(directory: File) {
    // The core (libenroll) is loaded first: the JNI library needs it, and otherwise the system would search for it only
    // in its own folders.
    val core = File(directory, CORE).absoluteFile
    if (core.exists()) System.load(core.path)
    System.load(File(directory, JNI).absolutePath)
  }

  /** The folder inside the jar that has the libraries for this system and processor. */
  private fun platformFolder(): String {
    val processor = when (val name = System.getProperty("os.arch")) {
      "amd64" -> "x86_64"
      else -> name
    }
    return "META-INF/native/linux-$processor"
  }

  private fun carried(name: String) = NativeLibrary::class.java.getResource("/${platformFolder()}/$name")

  /** Whether musl's loader started this JVM. If so, the loader is mapped into the process's memory. */
  private fun isOnMusl() = try {
    File("/proc/self/maps").useLines { lines -> lines.any { "/ld-musl-" in it } }
  } catch (_: IOException) {
    false
  }

  private fun loadCarried() {
    if (isOnMusl()) {
      throw EnrollException(
        Status.UNSUPPORTED,
        "the jar's libraries need glibc, and this JVM uses musl: set enrollkit.library.path to a folder with $JNI and $CORE " +
          "for musl, or use Enroll.daemon",
      )
    }
    // The folder has mode 0700, so that no other user can replace a library. Once a file is loaded, its name is no
    // longer needed.
    val folder = Files.createTempDirectory("enrollkit").toFile()
    try {
      for (name in listOf(CORE, JNI)) {
        carried(name)?.openStream()?.use { from -> File(folder, name).outputStream().use { from.copyTo(it) } }
      }
      loadFrom(folder)
    } finally {
      folder.deleteRecursively()
    }
  }
}
