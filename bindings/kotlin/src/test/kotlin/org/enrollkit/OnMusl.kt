package org.enrollkit

import java.nio.channels.FileChannel
import java.nio.file.Files
import kotlin.io.path.writeText

/** This runs in a separate JVM that looks like a JVM for musl, because it has mapped a file with the name
 *  of musl's loader. */
fun main() {
  val folder = Files.createTempDirectory("enrollkit-musl")
  val loader = folder.resolve("ld-musl-x86_64.so.1")
  try {
    loader.writeText("musl")
    val inMemory = FileChannel.open(loader).use { it.map(FileChannel.MapMode.READ_ONLY, 0, 4) }
    try {
      Enroll.library()
    } catch (fault: EnrollException) {
      println(fault.message)
    }
    check(inMemory.get(0) == 'm'.code.toByte())
  } finally {
    folder.toFile().deleteRecursively()
  }
}
