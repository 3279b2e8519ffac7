// Checks that the arguments and the environment are valid text.

import CPosix
import EnrollPosix

/// Paths and names are text in this program. Bytes that are not UTF-8 are refused, because they would be changed, and
/// the program would then use another path or another store.
enum Encoding {
  private static let variables = ["ENROLL_STORE", "ENROLL_CONFIG", "ENROLL_PROFILE", "ENROLL_ACCOUNT"]

  /// The fault of the arguments or of the program's own variables; nil if they are valid.
  static func complaint() -> String? {
    if let index = ProcessArguments.firstInvalidUTF8() {
      return "argument \(index) is not UTF-8: \(expectation)"
    }
    for name in variables {
      guard let value = getenv(name) else { continue }
      guard String(validatingCString: value) != nil else { return "\(name) is not UTF-8: \(expectation)" }
    }
    return nil
  }

  private static let expectation = "expected paths and names in UTF-8"
}
