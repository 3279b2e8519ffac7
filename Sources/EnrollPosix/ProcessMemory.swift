// Prevents other processes from reading this process's memory, both while it runs and in a core dump, because the
// memory has tokens (R40).

import CPosix
public import EnrollRules

public enum ProcessMemory {
  /// Makes all threads share one heap, which grows in large steps. For programs that end soon. With one heap for each
  /// thread, threads would not wait for each other, but each heap would grow page by page, which costs more than the
  /// waits.
  public static func shareHeap() { enroll_posix_share_heap() }

  /// Forbids core dumps and debuggers of the same user, until the process runs another program. Only for EnrollKit's
  /// programs: a host decides for itself, because it may need core dumps or debuggers to find the cause of a crash.
  /// - Throws: `.unsupported` if the system refuses.
  public static func hide() throws(EnrollError) {
    guard enroll_posix_hide_memory() == 0 else {
      throw EnrollError(.unsupported, "core dumps and debuggers could not be switched off")
    }
  }
}
