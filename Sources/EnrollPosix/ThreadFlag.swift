// Thread-local values that are set while a closure runs: flags and numbers. A flag marks a host's callback,
// so that the library recognizes calls that the callback makes (R41). A number is used as a pointer to the
// limits of the thread's current call.

import CPosix

/// A thread-local number; 0 at first.
final class ThreadLocalNumber: Sendable {
  private let key: pthread_key_t
  private let hasKey: Bool

  /// Makes a key for the number. A process can have about a thousand of these keys: make few, and keep them.
  package init() {
    var key = pthread_key_t()
    hasKey = pthread_key_create(&key, nil) == 0
    self.key = key
  }

  deinit {
    if hasKey { pthread_key_delete(key) }
  }

  /// The number of the current thread.
  package var value: UInt { hasKey ? UInt(bitPattern: pthread_getspecific(key)) : 0 }

  /// Sets the number of the current thread while `body` runs.
  package func set<Result, Failure: Error>(
    _ value: UInt, during body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard hasKey else { return try body() }
    let before = pthread_getspecific(key)
    pthread_setspecific(key, UnsafeRawPointer(bitPattern: value))
    defer { pthread_setspecific(key, before) }
    return try body()
  }
}

/// A thread-local flag.
public final class ThreadFlag: Sendable {
  private let number = ThreadLocalNumber()

  /// A process can have about a thousand flags: make few, and keep them.
  public init() {}

  /// Whether the current thread is inside ``during(_:)``.
  public var isSet: Bool { number.value != 0 }

  /// Sets the flag of the current thread while `body` runs.
  public func during<Result>(_ body: () -> Result) -> Result { number.set(1, during: body) }

  /// Clears the flag of the current thread while `body` runs.
  func cleared<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try number.set(0, during: body)
  }
}
