// Prevents other processes from reading this process's memory, while it runs and in a core dump: the memory holds
// tokens (R40).

import CPosix
public import EnrollCore

public enum ProcessMemory {
  /// All threads share one heap, which grows in large steps. For a program that ends at once: an arena for each thread, a page
  /// at a time, costs more than the waits that it avoids.
  public static func shareHeap() { enroll_posix_share_heap() }

  /// No core dump is written, and no debugger of the same user may look, from now until the process runs another
  /// program. For a program of its own: a host in which others look for causes of crashes decides for itself.
  /// - Throws: `.unsupported` where the system refuses.
  public static func hide() throws(EnrollError) {
    guard enroll_posix_hide_memory() == 0 else {
      throw EnrollError(.unsupported, "core dumps and debuggers could not be switched off")
    }
  }
}
