// How the program ends: one table of exit statuses, in which scripts can trust (enroll(1), EXIT STATUS). Numbers are never
// reused.

import EnrollCore

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

  /// As the manual says it.
  var summary: String {
    switch self {
    case .done: "It is done; status: somebody is signed in; doctor: nothing is wrong."
    case .failed: "Something else failed; doctor: something is wrong."
    case .usage: "The words on the command line or the configuration are not acceptable."
    case .signInNeeded: "Nobody is signed in, or the session is over: run enroll login."
    case .unreachable: "The provider cannot be reached, or is in trouble: try again later."
    case .refused: "The provider refused, or its answer is not acceptable."
    case .storeLocked:
      "The store is locked: the keyring, a passphrase, a PIN; or what was given does not open it."
    case .busy: "Another process is renewing, and the time was up first: try again."
    case .storeUnusable: "The store cannot be used: permissions, damage, disk; enroll doctor says more."
    case .notFinished: "The user said no, or did not finish in time."
    case .interrupted: "Ctrl-C, or another signal that asks for the end."
    }
  }

  /// What an error of the library comes to.
  init(_ code: EnrollError.Code) {
    switch code {
    case .invalidArgument, .configuration, .unsupported, .json: self = .usage
    case .reauthenticate, .loginRequired, .interactionRequired, .consentRequired, .illegalState:
      self = .signInNeeded
    case .network, .timeout, .server, .keysUnavailable, .expired, .deadlineExceeded: self = .unreachable
    case .rejected, .oauth, .tls, .responseInvalid, .issuerMismatch, .idTokenInvalid, .profileMismatch,
      .unknownAccount:
      self = .refused
    case .storeLocked, .storeKey: self = .storeLocked
    case .busy: self = .busy
    case .storeCorrupt, .storeRefused, .storeIO, .storeFull, .storeVersion: self = .storeUnusable
    case .accessDenied, .transactionExpired, .otherAppMissing, .activationFailed, .codeRejected,
      .emailNotVerified, .redirectMalformed, .redirectMismatch, .unsolicited, .alreadySettled:
      self = .notFinished
    case .cancelled: self = .interrupted
    case .handle, .reentrant, .forked, .bufferTooSmall, .notFound, .outOfMemory, .internal: self = .failed
    }
  }

  /// What to do next; nil where the error itself says all.
  var advice: Advice? {
    switch self {
    case .signInNeeded: "Run \(.login)."
    case .unreachable: "Try again later; \(.doctor) looks for the reason."
    case .refused: "\(.doctor) shows the provider as it answers now."
    case .storeLocked:
      "Unlock the keyring, or give the passphrase by --passphrase-fd, the PIN by --pin-fd."
    case .busy: "Try again."
    case .storeUnusable: "\(.doctor) says more."
    case .notFinished: "Run \(.sameAgain) to try again."
    case .usage: "See \(.help)."
    case .done, .failed, .interrupted: nil
    }
  }
}
