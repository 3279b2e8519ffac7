// A mounted disk of a few pages, which can be filled and made read-only. This needs root.

import Foundation

/// A tmpfs on its own folder, which is unmounted when the object is released.
package final class SmallDisk: Sendable {
  /// The reason why a test is skipped, for `.enabled(if: SmallDisk.isPossible, …)`.
  package static let wanted = "needs root, to mount a small disk"

  package static let isPossible: Bool = geteuid() == 0 && (try? SmallDisk()) != nil

  package let path: String
  package var store: String { path + "/store" }
  private var ballast: String { path + "/ballast" }

  struct NotMounted: Error {}

  package init() throws {
    path = NSTemporaryDirectory() + "/enroll-disk-" + UUID().uuidString
    mkdir(path, 0o700)
    guard SmallDisk.run("mount", "-t", "tmpfs", "-o", "size=512k,mode=0755", "tmpfs", path) else {
      rmdir(path)
      throw NotMounted()
    }
  }

  deinit {
    _ = SmallDisk.run("umount", "--lazy", path)
    rmdir(path)
  }

  /// Fills all free space.
  package func fill() {
    let descriptor = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let page = [UInt8](repeating: 0x2E, count: 4096)
    while write(descriptor, page, page.count) > 0 {}
  }

  package var isFilled: Bool { access(ballast, F_OK) == 0 }

  /// Frees that space.
  package func free() { unlink(ballast) }

  package func makeReadOnly(_ isReadOnly: Bool) throws {
    guard SmallDisk.run("mount", "-o", "remount," + (isReadOnly ? "ro" : "rw"), path) else {
      throw NotMounted()
    }
  }

  private static func run(_ program: String, _ arguments: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
