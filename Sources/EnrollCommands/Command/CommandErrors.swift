// The errors that a command may return: the errors that every command may return, groups of errors that many commands
// share, and the command's own errors.

public import EnrollRules

/// The errors that one command may return, in addition to the errors that every command may return.
public struct CommandErrors: Sendable {
  /// Errors that many commands share.
  enum Group: Sendable {
    /// Errors of the store: its key, its files, its lock.
    case store
    /// Errors of a request to the provider.
    case network
    /// Errors of a timeout that the caller chose.
    case timeout
    /// Errors when a redirect is verified, and when its code is exchanged.
    case redirect
    /// Errors of an access token that the command needs, or returns.
    case access

    fileprivate var codes: [EnrollError.Code] {
      switch self {
      case .store:
        [.storeLocked, .storeCorrupt, .storeRefused, .storeIO, .storeFull, .storeKey, .storeVersion]
      case .network:
        [.network, .tls, .timeout, .server, .responseInvalid, .issuerMismatch, .configuration]
      case .timeout: [.deadlineExceeded]
      case .redirect:
        [
          .redirectMalformed, .redirectMismatch, .unsolicited, .alreadySettled, .transactionExpired,
          .activationFailed, .oauth, .loginRequired, .interactionRequired, .consentRequired, .accessDenied,
          .keysUnavailable, .idTokenInvalid, .profileMismatch, .illegalState,
        ]
      case .access: [.illegalState, .reauthenticate, .rejected, .expired]
      }
    }
  }

  /// The errors that every command may return: `busy` if too many calls are running, `unsupported` if a library is
  /// missing.
  static let every: [EnrollError.Code] = [
    .invalidArgument, .cancelled, .busy, .unsupported, .outOfMemory, .internal,
  ]

  /// The additional errors of every command that needs a client.
  static let client: [EnrollError.Code] = [.handle, .reentrant, .forked]

  private let groups: [Group]
  private let own: [EnrollError.Code]
  private let exceptions: [EnrollError.Code]

  init(_ groups: Group..., also own: EnrollError.Code..., except exceptions: EnrollError.Code...) {
    self.groups = groups
    self.own = own
    self.exceptions = exceptions
  }

  /// The codes of all these errors, each once, in the order of the table of errors. Computed for the manifest.
  public var codes: [EnrollError.Code] {
    var named = own
    for group in groups { named += group.codes }
    return EnrollError.Code.allCases.filter { code in
      named.contains { $0 == code } && !exceptions.contains { $0 == code }
    }
  }
}
