// The addresses of the gateway, as one table: what is not in it does not exist. Paths are compared byte by byte, so that no escape and no
// dot segment leads anywhere.

import EnrollCore
import EnrollHTTP

/// An address, with what it names.
enum Route: Equatable {
  case root
  case choice(isSignUp: Bool)
  case email(EmailRoute)
  case start(provider: String)
  case callback(provider: String)
  case redeem(provider: String)
  /// What a provider tells about its accounts.
  case notification(provider: String)
  /// Facebook tells that somebody wants everything deleted that came from there.
  case dataDeletion(provider: String)
  /// Facebook tells that somebody removed the app.
  case deauthorization(provider: String)
  /// The page that shows the status of such a deletion.
  case deletionStatus
  case account
  case signOut
  case signedOut(isEverywhere: Bool)
  case endSession
  case endAllSessions
  case connect
  case disconnect
  case confirm
  case startConfirming
  case merge
  case mergeAccounts
  case export
  case deletion
  case deleteAccount
  case deleted
  case accessToken
  /// A provider tells that somebody has signed out there.
  case backchannelLogout(provider: String)
  case userinfo
  case registrationCheck
  case profile
  case errorReport
  case revocation
  case discovery
  case keys
  case androidAssociation
  case appleAssociation
  case asset
  case live
  case ready

  /// nil for an address that does not exist.
  init?(path: String) {
    if let fixed = Self.fixed.first(where: { ASCII.equals($0.path, path) }) {
      self = fixed.route
      return
    }
    let parts = path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false).map {
      String(Substring($0))
    }
    switch parts.count {
    case 3 where ASCII.equals(parts[1], "assets"): self = .asset
    case 4 where Self.isBelowAuth(parts) && GatewaySettings.isName(parts[3]):
      self = .start(provider: parts[3])
    case 5 where Self.isBelowAuth(parts) && GatewaySettings.isName(parts[3]):
      if ASCII.equals(parts[4], "callback") {
        self = .callback(provider: parts[3])
      } else if ASCII.equals(parts[4], "redeem") {
        self = .redeem(provider: parts[3])
      } else if ASCII.equals(parts[4], "backchannel-logout") {
        self = .backchannelLogout(provider: parts[3])
      } else if ASCII.equals(parts[4], "notifications") {
        self = .notification(provider: parts[3])
      } else if ASCII.equals(parts[4], "data-deletion") {
        self = .dataDeletion(provider: parts[3])
      } else if ASCII.equals(parts[4], "deauthorize") {
        self = .deauthorization(provider: parts[3])
      } else {
        return nil
      }
    default:
      guard let form = EmailRoute(path: path) else { return nil }
      self = .email(form)
    }
  }

  static let fixed: [(path: String, route: Route)] = [
    ("/", .root), ("/login", .choice(isSignUp: false)), ("/signup", .choice(isSignUp: true)),
    ("/account", .account), ("/signout", .signOut), ("/signed-out", .signedOut(isEverywhere: false)),
    ("/signed-out-everywhere", .signedOut(isEverywhere: true)),
    ("/account/sessions/end", .endSession), ("/account/sessions/end-all", .endAllSessions),
    ("/account/connect", .connect), ("/account/disconnect", .disconnect), ("/account/confirm", .confirm),
    ("/account/confirm/start", .startConfirming), ("/account/merge", .merge),
    ("/account/merge/confirm", .mergeAccounts), ("/account/export", .export),
    ("/account/delete", .deletion), ("/account/delete/confirm", .deleteAccount),
    ("/account-deleted", .deleted), ("/data-deletion", .deletionStatus), ("/v1/token", .accessToken),
    ("/v1/userinfo", .userinfo), ("/v1/registration-check", .registrationCheck), ("/v1/profile", .profile),
    ("/v1/error-reports", .errorReport), ("/v1/revoke", .revocation),
    (ProviderMetadata.wellKnownPath, .discovery), ("/v1/keys", .keys),
    (AppAssociations.androidPath, .androidAssociation), (AppAssociations.applePath, .appleAssociation),
    ("/livez", .live), ("/readyz", .ready),
  ]

  private static func isBelowAuth(_ parts: [String]) -> Bool {
    parts[0].utf8.isEmpty && ASCII.equals(parts[1], "v1") && ASCII.equals(parts[2], "auth")
  }

  func takes(_ method: WebRequest.Method) -> Bool {
    if case .email(let form) = self { return form.takes(method) }
    return method == self.method
  }

  /// A GET finishes something here, as the specification wants it (RFC 6749 §4.1.2): a HEAD is refused.
  var changesByGet: Bool { if case .callback = self { true } else { false } }

  var method: WebRequest.Method {
    switch self {
    case .redeem, .notification, .signOut, .endSession, .endAllSessions, .registrationCheck, .profile,
      .errorReport, .revocation:
      .post
    case .connect, .disconnect, .startConfirming, .mergeAccounts, .export, .deleteAccount, .accessToken,
      .backchannelLogout, .dataDeletion, .deauthorization:
      .post
    case .confirm, .merge, .deletion, .deleted, .deletionStatus: .get
    case .root, .choice, .email, .start, .callback, .account, .signedOut, .userinfo, .discovery, .keys,
      .androidAssociation, .appleAssociation, .asset, .live, .ready:
      .get
    }
  }

  /// What an answer may wait for.
  var lane: Lane {
    switch self {
    case .start, .callback, .notification, .email: .provider
    case .connect, .startConfirming, .disconnect, .deleteAccount, .backchannelLogout: .provider
    case .confirm, .merge, .mergeAccounts, .export, .deletion, .accessToken: .database
    case .dataDeletion, .deauthorization, .deletionStatus: .database
    case .redeem, .account, .signOut, .endSession, .endAllSessions, .userinfo, .registrationCheck, .profile,
      .errorReport, .revocation, .root:
      .database
    case .choice, .signedOut, .deleted, .discovery, .keys, .androidAssociation, .appleAssociation, .asset,
      .live, .ready:
      .here
    }
  }

  /// Programs read its failures, not people.
  var isForPrograms: Bool {
    switch self {
    case .redeem, .notification, .userinfo, .registrationCheck, .profile, .errorReport, .revocation,
      .discovery, .keys, .androidAssociation, .appleAssociation, .live, .ready, .accessToken,
      .backchannelLogout, .dataDeletion, .deauthorization:
      true
    case .root, .choice, .email, .start, .callback, .account, .signOut, .signedOut, .endSession,
      .endAllSessions,
      .asset:
      false
    case .connect, .disconnect, .confirm, .startConfirming, .merge, .mergeAccounts, .export, .deletion,
      .deleteAccount, .deleted, .deletionStatus:
      false
    }
  }
}
