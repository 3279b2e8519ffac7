// The gateway's own directory: users and their passwords are in the tables of the gateway's store. The store creates a
// user together with the account, once the address is verified, so no user is ever staged.

import EnrollRules
public import EnrollCrypto

/// The directory whose people are in the gateway's own store.
public final class OwnDirectory: Directory {
  public let name = "own"
  public let checksPasswords: Bool
  private let store: any RegistrationStore
  private let hasher: PasswordHasher

  public init(_ store: any RegistrationStore, hasher: PasswordHasher, hasPasswords: Bool) {
    self.store = store
    self.hasher = hasher
    checksPasswords = hasPasswords
  }

  public func person(with email: EmailAddress) throws(DirectoryFailure) -> DirectoryPerson? {
    try callingStore { () throws(StoreFailure) in try store.person(emailKey: email.key) }.map {
      Self.person($0)
    }
  }

  public func create(_ email: EmailAddress, name: String?) throws(DirectoryFailure) -> DirectoryPerson {
    throw .unsupported("the store makes a person together with the account")
  }

  public func activate(_ id: String) throws(DirectoryFailure) {}

  public func setPassword(_ password: Secret, of id: String) throws(DirectoryFailure) {
    throw .unsupported("the store sets a password together with what it ends")
  }

  /// Hashes a password.
  /// - Throws: `.unavailable` if too many passwords are being hashed.
  func hashed(_ password: Secret) throws(DirectoryFailure) -> String {
    do throws(EnrollError) { return try hasher.hash(password) } catch { throw Self.failure(error) }
  }

  public func check(
    _ password: Secret, of email: EmailAddress
  ) throws(DirectoryFailure) -> PasswordCheck {
    let person = try callingStore { () throws(StoreFailure) in try store.person(emailKey: email.key) }
    do throws(EnrollError) {
      guard try hasher.verify(password, against: person?.password), let person else { return .rejected }
      return .accepted(Self.person(person))
    } catch {
      throw Self.failure(error)
    }
  }

  public func state(of id: String) throws(DirectoryFailure) -> DirectoryPerson.State {
    guard let id = PersonID(id),
      try callingStore({ () throws(StoreFailure) in try store.person(id: id) }) != nil
    else { throw .unknownPerson }
    return .active
  }

  private static func person(_ stored: StoredPerson) -> DirectoryPerson {
    DirectoryPerson(
      id: stored.id.text, email: stored.email, state: .active, hasPassword: stored.password != nil)
  }

  private static func failure(_ error: EnrollError) -> DirectoryFailure {
    error.code == .busy ? .unavailable(error.message) : .fault(error.message)
  }

  private func callingStore<Result>(
    _ body: () throws(StoreFailure) -> Result
  ) throws(DirectoryFailure) -> Result {
    do throws(StoreFailure) { return try body() } catch { throw .store(error) }
  }
}
