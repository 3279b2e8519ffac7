// The limits of texts that both a parameter of a command and an option of `enroll` have.

package import EnrollRules

/// The maximum number of bytes of each kind of text.
package enum TextLimits {
  package static let account = 128
  package static let storeFolder = 4095
  package static let loginHint = 512
  package static let connection = 256
  package static let clientID = 512
  package static let clientSecret = 512
  package static let challenge = 16_384
  package static let certificateFile = 4096
  package static let scopes = 16_448
  /// The limit of every text that has no limit of its own.
  package static let other = 256
  package static let url = 65_536

  /// Checks the length of a text.
  /// - Parameter path: the path of the text in the parameters of a command.
  /// - Throws: `.invalidArgument` for a text of more than `maximumBytes` bytes.
  package static func check(_ text: String, _ path: String, _ maximumBytes: Int) throws(EnrollError) {
    let count = text.utf8.count
    guard count > maximumBytes else { return }
    throw EnrollError(
      .invalidArgument, "\(path): expected at most \(maximumBytes) bytes, got \(count)", field: path)
  }

  /// Checks the number of elements of a list.
  /// - Throws: `.invalidArgument` for too many elements.
  package static func check(count: Int, _ path: String, _ maximumCount: Int) throws(EnrollError) {
    guard count > maximumCount else { return }
    throw EnrollError(
      .invalidArgument, "\(path): expected at most \(maximumCount) elements, got \(count)", field: path)
  }
}
