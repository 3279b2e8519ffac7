// Protection against fork(). If a process that holds a file lock forks, the child keeps the file locked even after its
// parent has died. The child's copies of mutexes may also be locked, by threads that do not exist in the child. So the
// child closes the lock descriptors before anything else, and every object from before the fork refuses to work in it
// (store.md, Fork). The handlers do not run after clone(2) and _Fork(), so a child that one of these calls makes has no
// protection. After posix_spawn and vfork no handlers are necessary, because exec closes the descriptors.

import CPosix
public import EnrollRules
import Synchronization

/// Remembers the process in which an object was made. Objects from before a fork do not work in the child.
public struct ForkGuard: Sendable {
  private let generation: UInt32

  /// Remembers the current process.
  public init() { generation = ForkState.ready.generation.load(ordering: .relaxed) }

  /// True in a child that was forked after this value was made. Reading this property costs one load and no system
  /// call.
  public var isForkedChild: Bool {
    ForkState.shared.generation.load(ordering: .relaxed) != generation
  }

  /// - Throws: `.forked` in a child.
  public func check() throws(EnrollError) {
    if isForkedChild {
      throw EnrollError(
        .forked, "this process forked after the object was made; the child has to make its own")
    }
  }

  /// Runs `body` while no other thread forks or runs another `body`, so that a child that is forked later can still use
  /// the lists that `body` changes.
  package static func withoutForks<Result>(_ body: () -> Result) -> Result {
    let state = ForkState.ready
    pthread_mutex_lock(state.mutex)
    defer { pthread_mutex_unlock(state.mutex) }
    return body()
  }

  /// Opens a lock file so that a forked child closes it. `open` returns a descriptor or a negative number. No fork can
  /// happen between opening and registering: a child that is forked at that moment would keep the lock.
  package static func openingLock(_ open: () -> Int32) -> Int32 {
    withoutForks {
      guard ForkState.shared.grow() else { return -ENOMEM }
      let fd = open()
      if fd >= 0 { ForkState.shared.add(fd) }
      return fd
    }
  }

  /// Closes a lock file, which frees its lock. No fork can happen between closing and unregistering: a child that is
  /// forked at that moment could close an unrelated descriptor.
  package static func closeLock(_ fd: Int32) {
    withoutForks {
      ForkState.shared.remove(fd)
      close(fd)
    }
  }
}

/// The state of the fork handlers. There is one state per process, because a fork handler has no parameter through
/// which it could get another state.
private final class ForkState: @unchecked Sendable {
  // Unchecked: the list is only touched with `mutex` held; a fork locks `mutex`, too.
  static let shared = ForkState()
  /// The fork handlers are registered only after `shared` is complete. Otherwise a child that is forked while `shared`
  /// is being created would wait for a thread that does not exist in the child.
  private static let hasForkHandlers =
    pthread_atfork(
      { pthread_mutex_lock(ForkState.shared.mutex) },
      { pthread_mutex_unlock(ForkState.shared.mutex) },
      { ForkState.shared.becomeChild() }) == 0

  /// The state, after the fork handlers were registered.
  static var ready: ForkState {
    let shared = shared
    _ = hasForkHandlers
    return shared
  }

  let generation = Atomic<UInt32>(0)
  let mutex: UnsafeMutablePointer<pthread_mutex_t>
  // Plain memory instead of an array, because the handler in the child must not allocate memory.
  private var descriptors: UnsafeMutablePointer<Int32>
  private var capacity = 64
  private var count = 0

  private init() {
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    descriptors = .allocate(capacity: 64)
  }

  func grow() -> Bool {
    guard count == capacity else { return true }
    guard capacity < 1 << 20 else { return false }
    let larger = UnsafeMutablePointer<Int32>.allocate(capacity: capacity * 2)
    larger.update(from: descriptors, count: count)
    descriptors.deallocate()
    descriptors = larger
    capacity *= 2
    return true
  }

  func add(_ fd: Int32) {
    descriptors[count] = fd
    count += 1
  }

  func remove(_ fd: Int32) {
    for index in 0..<count where descriptors[index] == fd {
      count -= 1
      descriptors[index] = descriptors[count]
      return
    }
  }

  func becomeChild() {
    generation.wrappingAdd(1, ordering: .relaxed)
    ExitBarrier.forgetThreads()
    for index in 0..<count { close(descriptors[index]) }
    count = 0
    pthread_mutex_unlock(mutex)
  }
}

/// An object that exists once in each process. The first use makes the object. In a forked child the first use makes a
/// new object, because the parent's object depends on threads and locks of the parent.
public final class PerProcess<Value: AnyObject & Sendable>: @unchecked Sendable {
  // Unchecked: `made` is only touched while no fork can happen.
  private var made: (value: Value, origin: ForkGuard)?
  private let make: @Sendable () -> Value

  /// - Parameter make: makes the object. It must neither fork nor use another PerProcess.
  public init(_ make: @escaping @Sendable () -> Value) { self.make = make }

  /// The object of this process.
  public var value: Value {
    ForkGuard.withoutForks {
      if let made {
        guard made.origin.isForkedChild else { return made.value }
        // The parent's object is never released: freeing it would touch locks that threads of the parent may have held.
        _ = Unmanaged.passRetained(made.value)
      }
      let value = make()
      made = (value, ForkGuard())
      return value
    }
  }
}
