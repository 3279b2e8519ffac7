// An algorithm of OpenSSL, fetched when it is first needed and kept. An algorithm that was unavailable is fetched again at
// the next use, because the cause may have been a lack of memory.

import COpenSSL

/// A handle that every thread shares. A class because it never goes away.
final class Fetched<Handle: AnyObject & Sendable>: @unchecked Sendable {
  // Unchecked: the cell is only touched by the two atomic operations; what is in it stays.
  private let cell: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  private let fetch: @Sendable () -> Handle?

  init(_ fetch: @escaping @Sendable () -> Handle?) {
    cell = .allocate(capacity: 1)
    cell.initialize(to: nil)
    self.fetch = fetch
  }

  var value: Handle? {
    if let kept = enroll_atomic_read(cell) { return Unmanaged<Handle>.fromOpaque(kept).takeUnretainedValue() }
    guard let handle = fetch() else { return nil }
    let owned = Unmanaged.passRetained(handle)
    // Another thread may have been faster: then that one stays, and this one goes with its last user.
    if enroll_atomic_fill(cell, owned.toOpaque()) == 0 { owned.release() }
    return handle
  }
}
