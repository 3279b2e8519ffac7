// Moves the key of a store to another key provider, for Swift programs.

public import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollPosix
import EnrollStore

extension EnrollClient {
  /// Moves the key of a store to another key provider, or wraps the key again with the same provider. An interruption
  /// at any point loses nothing; open clients of the store continue.
  /// - Parameters:
  ///   - store: the absolute path of the store's directory.
  ///   - keys: the current key provider.
  ///   - newKeys: the key provider from now on.
  ///   - newDataKey: whether to make a new key and seal every file with it.
  /// - Throws: `.notFound` for a store without keys; `.storeLocked` and similar errors if the key cannot be opened, or if
  ///   the new provider cannot keep it.
  public static func replaceKeys(
    ofStoreAt store: String, from keys: KeyPlan, to newKeys: KeyPlan, newDataKey: Bool = false
  ) async throws(EnrollError) {
    let result: Result<Void, EnrollError> = await withCheckedContinuation { continuation in
      // Runs the step on a separate thread, because the step waits for disks, keyrings and scrypt.
      let isStarted = WorkerPool(threads: 1, idleSeconds: 0).submit {
        do throws(EnrollError) {
          try FileTokenStore(path: store, keys: keys, clock: SystemClock())
            .replaceKeys(newKeys, newDataKey: newDataKey)
          continuation.resume(returning: .success(()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
      if !isStarted {
        continuation.resume(returning: .failure(EnrollError.noThread()))
      }
    }
    try result.get()
  }
}
