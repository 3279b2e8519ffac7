// Guards against fork(): a child of the process that holds a file lock keeps the lock alive after its parent died, and
// finds mutexes held by threads that it does not have. So the child closes the lock descriptors before it does anything
// else, and everything made before the fork refuses to work in it (store.md, Fork). Not covered: clone(2) and _Fork(),
// which run no handlers. posix_spawn and vfork need none: exec closes the descriptors.

import CPosix
public import EnrollCore
import Synchronization

/// Where in a line of forks an object was made: nothing made before a fork works in the child.
public struct ForkGuard: Sendable {
  private let generation: UInt32

  /// Remembers the process in which it is made.
  public init() { generation = ForkState.ready.generation.load(ordering: .relaxed) }

  /// True in a child forked after this value was made. One load, no system call.
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

  /// Runs `body` while no other thread forks, or runs a `body` of its own: for lists that a child goes on using.
  package static func undisturbed<Result>(_ body: () -> Result) -> Result {
    let state = ForkState.ready
    pthread_mutex_lock(state.mutex)
    defer { pthread_mutex_unlock(state.mutex) }
    return body()
  }

  /// Opens a lock file such that a forked child closes it. `open` gives a descriptor or a negative number.
  /// Opening and registering are one step as forks see it: a child forked between the two would keep the lock.
  package static func openingLock(_ open: () -> Int32) -> Int32 {
    undisturbed {
      guard ForkState.shared.makeRoom() else { return -ENOMEM }
      let fd = open()
      if fd >= 0 { ForkState.shared.add(fd) }
      return fd
    }
  }

  /// Closes a lock file, which frees its lock. One step as forks see it: a child forked between closing and forgetting
  /// could close a descriptor of somebody else.
  package static func closeLock(_ fd: Int32) {
    undisturbed {
      ForkState.shared.remove(fd)
      close(fd)
    }
  }
}

/// The process-wide part: fork handlers have no argument, so what they touch cannot belong to an object.
private final class ForkState: @unchecked Sendable {
  // Unchecked: the list is only touched with `mutex` held; a fork takes it too.
  static let shared = ForkState()
  /// Only when the state is whole: a child that is forked while another thread makes it would wait for that thread.
  private static let isToldOfForks =
    pthread_atfork(
      { pthread_mutex_lock(ForkState.shared.mutex) },
      { pthread_mutex_unlock(ForkState.shared.mutex) },
      { ForkState.shared.becomeChild() }) == 0

  /// The state, after the handlers of fork() were registered.
  static var ready: ForkState {
    let shared = shared
    _ = isToldOfForks
    return shared
  }

  let generation = Atomic<UInt32>(0)
  let mutex: UnsafeMutablePointer<pthread_mutex_t>
  // Plain memory: the handler in the child must not allocate.
  private var descriptors: UnsafeMutablePointer<Int32>
  private var capacity = 64
  private var count = 0

  private init() {
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    descriptors = .allocate(capacity: 64)
  }

  func makeRoom() -> Bool {
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

/// An object that each process has once. It is made when it is first asked for, and again in a forked child, because the
/// parent's threads and locks do not exist in the child.
public final class PerProcess<Value: AnyObject & Sendable>: @unchecked Sendable {
  // Unchecked: `made` is only touched where no fork can fall.
  private var made: (value: Value, origin: ForkGuard)?
  private let make: @Sendable () -> Value

  /// - Parameter make: makes it; must not fork, nor ask for what belongs to the process.
  public init(_ make: @escaping @Sendable () -> Value) { self.make = make }

  /// The one of this process.
  public var value: Value {
    ForkGuard.undisturbed {
      if let made {
        guard made.origin.isForkedChild else { return made.value }
        // Never released: to free it would touch locks that threads of the parent held.
        _ = Unmanaged.passRetained(made.value)
      }
      let value = make()
      made = (value, ForkGuard())
      return value
    }
  }
}
