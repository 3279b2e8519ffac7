// A mark on the current thread: set around a host's callback, so that a call which the callback makes into the library
// can be told from any other (R41).

import CPosix

/// Something that is either true or false of each thread.
public final class ThreadMark: Sendable {
  private let key: pthread_key_t
  private let hasKey: Bool

  /// A process has room for about a thousand marks: make few, and keep them.
  public init() {
    var key = pthread_key_t()
    hasKey = pthread_key_create(&key, nil) == 0
    self.key = key
  }

  deinit {
    if hasKey { pthread_key_delete(key) }
  }

  /// Whether the current thread is inside ``during(_:)``.
  public var isSet: Bool { hasKey && pthread_getspecific(key) != nil }

  /// Marks the current thread while `body` runs.
  public func during<Result>(_ body: () -> Result) -> Result { set(1, body) }

  /// Takes the mark from the current thread while `body` runs.
  func lifted<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try set(0, body)
  }

  private func set<Result, Failure: Error>(
    _ mark: UInt, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let before = hasKey ? pthread_getspecific(key) : nil
    if hasKey { pthread_setspecific(key, UnsafeRawPointer(bitPattern: mark)) }
    defer { if hasKey { pthread_setspecific(key, before) } }
    return try body()
  }
}
