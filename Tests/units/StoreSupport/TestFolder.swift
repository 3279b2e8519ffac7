// A folder that is deleted after the test, with a store in it.

package import EnrollRules
package import EnrollSteps
package import EnrollStore
import EnrollTesting
import Foundation
import Testing

/// A folder for one test.
package final class TestFolder: Sendable {
  package let path: String
  package var store: String { path + "/store" }

  /// Makes the folder of the test.
  /// - Parameter onDisk: true for a folder on a real disk, where syncing takes time; false for a folder in memory, if
  ///   the machine has /dev/shm.
  package init(onDisk: Bool = false) {
    let memory = "/dev/shm"
    let isUsable = !onDisk && access(memory, W_OK) == 0
    path = (isUsable ? memory : NSTemporaryDirectory()) + "/enroll-" + UUID().uuidString
    _ = mkdir(path, 0o711)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package func open(
    clock: any EnrollSteps.Clock = FakeClock(), system: any FileSystem = PosixFileSystem(),
    keys: KeyPlan = .file,
    allowsNetworkFilesystem: Bool = false
  ) throws(EnrollError) -> FileTokenStore {
    try FileTokenStore(
      path: store, keys: keys, clock: clock, allowsNetworkFilesystem: allowsNetworkFilesystem, system: system)
  }

  /// A store with a record of the default account, with a small profile.
  @discardableResult
  package func filled(clock: any EnrollSteps.Clock = FakeClock()) throws(EnrollError) -> FileTokenStore {
    let store = try open(clock: clock)
    try store.update(.default) { $0.registrationType = "SOCIAL" }
    return store
  }

  package func names(_ suffix: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: store).filter { $0.hasSuffix(suffix) }.sorted()
  }

  /// The path of the only file with this suffix.
  package func only(_ suffix: String) throws -> String {
    let names = try names(suffix)
    try #require(names.count == 1, "\(names)")
    return store + "/" + names[0]
  }

  package func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Overwrites the file in place: it stays the same file.
  package func overwrite(_ path: String, _ bytes: [UInt8]) throws {
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
  }
}
