// Which errors a command may answer: those of every command once, those that many share as groups, and its own.

public import EnrollCore

/// The errors of one command, beyond those of every command.
public struct CommandErrors: Sendable {
  /// Errors that many commands have in common.
  enum Group: Sendable {
    /// The store: its key, its files, its lock.
    case store
    /// A request to the provider.
    case network
    /// A timeout that the caller chose.
    case timeout
    /// A redirect that is verified and exchanged.
    case redirect
    /// An access token that is needed, or handed out.
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

  /// Errors that any command may return: `busy` when too many calls are in progress, `unsupported` without a library
  /// that it needs.
  static let every: [EnrollError.Code] = [
    .invalidArgument, .cancelled, .busy, .unsupported, .outOfMemory, .internal,
  ]

  /// Errors that any command of a client may return besides.
  static let client: [EnrollError.Code] = [.handle, .reentrant, .forked]

  private let groups: [Group]
  private let own: [EnrollError.Code]
  private let exceptions: [EnrollError.Code]

  init(_ groups: Group..., also own: EnrollError.Code..., except exceptions: EnrollError.Code...) {
    self.groups = groups
    self.own = own
    self.exceptions = exceptions
  }

  /// Each once, in the order of the table of errors. Put together when the manifest asks for it.
  public var codes: [EnrollError.Code] {
    var named = own
    for group in groups { named += group.codes }
    return EnrollError.Code.allCases.filter { code in
      named.contains { $0 == code } && !exceptions.contains { $0 == code }
    }
  }
}
