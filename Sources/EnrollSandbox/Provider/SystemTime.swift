// The one place where the sandbox reads the machine's clock.

import Foundation

/// The machine's clock.
public enum SystemTime {
  /// Whole seconds since 1970.
  @Sendable public static func now() -> Int64 { Int64(Date().timeIntervalSince1970) }
}
