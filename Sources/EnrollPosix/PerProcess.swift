// An object that each process has once. A forked child makes its own, because the parent's threads and locks do not exist
// in the child.

/// An object that is made when it is first asked for, and again in a child.
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
