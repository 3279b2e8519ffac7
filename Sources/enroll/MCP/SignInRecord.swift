// The record of a sign-in: the lines of JSON that `enroll login` prints, and the data that other processes read from
// these lines.

import EnrollJSON
import EnrollRules

/// The output of a sign-in so far: the challenge, the transaction, and a failure.
struct SignInRecord: Equatable {
  /// When the sign-in began, in seconds since 1970.
  var beganAt: Int64 = 0
  /// The id of the process: it distinguishes sign-ins that began in the same second.
  var process: Int64 = 0
  var challenge: String?
  /// The host at which the user signs in.
  var issuerHost: String?
  /// The code to type on another device, and the URL of the page for it.
  var deviceCode: (code: String, url: String)?
  /// When the browser tab was last opened, in seconds since 1970.
  var openedAt: Int64 = 0
  /// Whether a tab was opened.
  var hasTab = false
  var failure: (message: String, status: Int64, at: Int64)?

  init?(_ bytes: ArraySlice<UInt8>) {
    let lines = bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSON.parse(Array($0)) }
    guard let first = lines.first, let at = first["at"]?.integer else { return nil }
    beganAt = at
    process = first["process"]?.integer ?? 0
    challenge = first["challenge"]?.string
    openedAt = at
    for line in lines.dropFirst() {
      if let opened = line["opened"]?.integer { (openedAt, hasTab) = (opened, true) }
      if let action = line["action"] {
        if let url = action["url"]?.string {
          issuerHost = (try? StrictURL(url))?.hostText
          hasTab = true
        }
        if let code = action["userCode"]?.string, let url = action["verificationUri"]?.string {
          deviceCode = (code, url)
          issuerHost = (try? StrictURL(url))?.hostText
        }
      }
      if let status = line["exitStatus"]?.integer {
        let message = line["error"]?["message"]?.string ?? "the sign-in ended"
        failure = (message, status, at)
      }
      if let ended = line["ended"]?.integer { failure?.at = ended }
    }
  }

  /// The name that distinguishes this sign-in from other sign-ins.
  var name: String { "\(beganAt) \(process)" }

  static func == (left: SignInRecord, right: SignInRecord) -> Bool {
    left.beganAt == right.beganAt && left.process == right.process
      && (left.failure == nil) == (right.failure == nil)
  }
}
