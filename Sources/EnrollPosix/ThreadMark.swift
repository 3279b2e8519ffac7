// A value that the current thread has for a while: a mark around a host's callback, to recognize calls that the callback
// makes into the library (R41), or the timeout of the thread's caller.

import CPosix

/// A number that each thread has of its own; 0 at first.
final class ThreadNumber: Sendable {
  private let key: pthread_key_t
  private let hasKey: Bool

  /// A process has room for about a thousand: make few, and keep them.
  package init() {
    var key = pthread_key_t()
    hasKey = pthread_key_create(&key, nil) == 0
    self.key = key
  }

  deinit {
    if hasKey { pthread_key_delete(key) }
  }

  /// The current thread's.
  package var value: UInt { hasKey ? UInt(bitPattern: pthread_getspecific(key)) : 0 }

  /// Gives the current thread another while `body` runs.
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

/// Something that is either true or false of each thread.
public final class ThreadMark: Sendable {
  private let number = ThreadNumber()

  /// A process has room for about a thousand marks: make few, and keep them.
  public init() {}

  /// Whether the current thread is inside ``during(_:)``.
  public var isSet: Bool { number.value != 0 }

  /// Marks the current thread while `body` runs.
  public func during<Result>(_ body: () -> Result) -> Result { number.set(1, during: body) }

  /// Takes the mark from the current thread while `body` runs.
  func lifted<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try number.set(0, during: body)
  }
}
