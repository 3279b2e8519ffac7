// The exit statuses of the program, as one table on which scripts can rely (enroll(1), EXIT STATUS). Numbers are never
// reused.

import EnrollRules

/// An exit status.
enum CommandStatus: Int32, CaseIterable {
  case done = 0
  case failed = 1
  case usage = 2
  case signInNeeded = 3
  case unreachable = 4
  case refused = 5
  case storeLocked = 6
  case busy = 7
  case storeUnusable = 8
  case notFinished = 9
  case interrupted = 130

  /// The text in the manual.
  var summary: String {
    switch self {
    case .done: "Success. status: a user is signed in; doctor: no problem found."
    case .failed: "Another failure. doctor: a problem found."
    case .usage: "The command line or the configuration is invalid."
    case .signInNeeded: "No user is signed in, or the session has ended: run enroll login."
    case .unreachable: "The provider is unreachable or failing: try again later."
    case .refused: "The provider refused, or its response is invalid."
    case .storeLocked:
      "The store is locked by its keyring, passphrase or PIN, or the given one is wrong."
    case .busy:
      "Another process renews the token or holds a lock and did not finish in time, or there was no thread: try again."
    case .storeUnusable: "The store cannot be used (permissions, damage, disk): run enroll doctor."
    case .notFinished: "The user declined, or did not finish in time."
    case .interrupted: "Ctrl-C, or another signal that ends the program."
    }
  }

  /// The exit status for an error of the library.
  init(_ error: EnrollError) { self = error.isAboutMetadata ? .refused : CommandStatus(error.code) }

  private init(_ code: EnrollError.Code) {
    self =
      switch code.category {
      case .usage: .usage
      case .signInNeeded: .signInNeeded
      case .unreachable: .unreachable
      case .refused: .refused
      case .storeLocked: .storeLocked
      case .storeUnusable: .storeUnusable
      case .busy: .busy
      case .notFinished: .notFinished
      case .interrupted: .interrupted
      case .failed: .failed
      }
  }

  /// Whether the cause is on this machine, not at the provider.
  var isOfThisMachine: Bool {
    switch self {
    case .usage, .storeUnusable, .busy: true
    case .done, .failed, .signInNeeded, .unreachable, .refused, .storeLocked, .notFinished, .interrupted:
      false
    }
  }

  /// The advice for a status; nil if the status needs no advice.
  var advice: Advice? {
    switch self {
    case .signInNeeded: "Run \(.login)."
    case .unreachable: "Try again later; \(.doctor) looks for the cause."
    case .refused: "\(.doctor) shows how the provider responds now."
    case .storeLocked:
      "Unlock the keyring, or pass the passphrase by --passphrase-fd or the PIN by --pin-fd."
    case .busy: "Try again."
    case .storeUnusable: "Run \(.doctor) for details."
    case .notFinished: "Run \(.sameAgain) to try again."
    case .usage: "See \(.help)."
    case .done, .failed, .interrupted: nil
    }
  }
}
