// The name of an account in the store.

/// The name of an account: 1 to 128 bytes of UTF-8 without control characters.
public struct AccountName: Equatable, Hashable, Sendable {
  /// The name itself.
  public let text: String
  /// The provider and the client of the account's tokens; empty until ``belonging(to:)`` adds them.
  public let realm: String

  /// The account's name for hosts that have only one account.
  public static let `default` = AccountName(unchecked: "default")

  private init(unchecked text: String, realm: String = "") {
    self.text = text
    self.realm = realm
  }

  /// The account with this name that belongs to the configuration's provider, client and resource. Because of that, its
  /// tokens are never sent to another provider, used by another client, or used for another resource (R43).
  public func belonging(to configuration: Configuration) -> AccountName {
    // An issuer is a URL and has no space; a client id is printable and has no line feed.
    AccountName(
      unchecked: text,
      realm: configuration.issuer.text + " " + configuration.clientID.text
        + (configuration.resource.map { "\n" + $0 } ?? ""))
  }

  /// The account's name and realm in one text, which is unique in a store, because no name has a line feed.
  package var qualifiedName: String { realm.isEmpty ? text : text + "\n" + realm }

  /// Makes a name that was read from the store.
  init(_ text: String, realm: String) throws(EnrollError) {
    self.init(unchecked: try AccountName(text).text, realm: realm)
  }

  /// Checks the name of an account.
  /// - Throws: `.invalidArgument` for an empty, too long or unprintable name.
  public init(_ text: String) throws(EnrollError) {
    let bytes = text.utf8
    guard (1...128).contains(bytes.count), bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw EnrollError(
        .invalidArgument,
        "an account name is 1 to 128 bytes without control characters, this has \(bytes.count)",
        field: "account")
    }
    self.init(unchecked: text)
  }
}

extension AccountName {
  /// Whether this account and `other` belong to the same client of the same provider, for any resource.
  package func isOfSameClient(as other: AccountName) -> Bool {
    clientRealm.elementsEqual(other.clientRealm)
  }

  private var clientRealm: Substring.UTF8View { realm.utf8.prefix { $0 != UInt8(ascii: "\n") } }
}
