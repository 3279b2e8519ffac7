// A directory that speaks SCIM 2.0 (RFC 7643, RFC 7644). Users are found with a filter, created inactive, and changed
// with PATCH, conditional on the version that was read. SCIM checks no passwords: users of this directory sign in at
// the directory's own provider.
//
// An inactive user was either never activated or was deactivated by an administrator, and SCIM does not say which. A
// user who was never changed since its creation counts as never activated; any other inactive user counts as suspended,
// and stays suspended.

import EnrollRules
public import EnrollSteps
public import EnrollCrypto
import EnrollJSON
import EnrollHTTP

public final class SCIMDirectory: Directory {
  private let http: DirectoryHTTP
  private let lookups: [SCIMLookup]

  public let name = "scim"
  public var checksPasswords: Bool { false }

  private static let mediaType = "application/scim+json"

  /// - Parameters:
  ///   - base: the URL of the parent of `/Users`, without a slash at its end.
  ///   - lookups: the attributes by which to find users, in this order.
  ///   - transport: its timeouts must suit a request that a user waits for.
  public init(
    base: String, lookups: [SCIMLookup], transport: any Transport, credentials: DirectoryCredentials,
    clock: any Clock, makeLock: () -> any Lock
  ) {
    self.lookups = lookups
    http = DirectoryHTTP(
      base: base, transport: transport, credentials: credentials, clock: clock, lock: makeLock())
  }

  public func person(with email: EmailAddress) throws(DirectoryFailure) -> DirectoryPerson? {
    for lookup in lookups {
      var list = SCIMList(email, in: lookup)
      var hasMore = true
      while hasMore {
        var query = [("filter", lookup.filter(email))]
        // `count` is not sent, because some directories do not understand it. Each directory chooses the length of its pages.
        if list.startIndex > 1 { query.append(("startIndex", String(list.startIndex))) }
        let answer = try send(.init(method: .get, path: "/Users", query: query))
        guard answer.isSuccess else { throw SCIMRefusal(answer).failure(of: "search") }
        hasMore = try list.take(answer.json)
      }
      guard list.found.count <= 1 else {
        throw .fault("\(list.found.count) users have one address as \(lookup.rawValue)")
      }
      if let user = list.found.first { return user.person(asked: email) }
    }
    return nil
  }

  public func create(_ email: EmailAddress, name: String?) throws(DirectoryFailure) -> DirectoryPerson {
    if let person = try person(with: email) { return person }
    let answer: DirectoryHTTP.Answer
    do throws(DirectoryFailure) {
      answer = try send(.init(method: .post, path: "/Users", body: SCIMUser.creation(email, name: name)))
    } catch {
      // The user may exist now, created by this call or by a concurrent call: some directories answer 500 to the second
      // of two calls.
      guard case .unavailable = error, let person = try? person(with: email) else { throw error }
      return person
    }
    if answer.isSuccess {
      guard let user = answer.json.flatMap({ SCIMUser($0) }) else {
        throw .fault("the directory made a user and does not say with which id")
      }
      // The state is taken from the answer, because some directories do not support inactive users.
      return DirectoryPerson(
        id: user.id, email: email.text, name: user.name, state: user.isActive ? .active : .staged)
    }
    let refusal = SCIMRefusal(answer)
    // If the name is taken, a concurrent call may have created the user.
    if refusal.isTaken, let person = try person(with: email) { return person }
    throw refusal.failure(of: "create")
  }

  public func activate(_ id: String) throws(DirectoryFailure) {
    try change(id, "activate") { (user) throws(DirectoryFailure) in
      guard !user.isActive else { return nil }
      guard user.isUntouched else { throw .refused("the directory has the person suspended") }
      return SCIMUser.change("active", to: .bool(true))
    }
  }

  public func setPassword(_ password: Secret, of id: String) throws(DirectoryFailure) {
    try change(id, SCIMRefusal.settingPassword) { (_) throws(DirectoryFailure) in
      SCIMUser.change("password", to: .string(password.reveal()))
    }
  }

  public func check(_ password: Secret, of email: EmailAddress) throws(DirectoryFailure) -> PasswordCheck {
    throw .unsupported("SCIM checks no passwords: people of this directory sign in at its provider")
  }

  public func state(of id: String) throws(DirectoryFailure) -> DirectoryPerson.State {
    try user(id).person(asked: nil).state
  }

  public func probe() throws(DirectoryFailure) {
    let answer = try send(.init(method: .get, path: "/ServiceProviderConfig"))
    guard answer.isSuccess else { throw SCIMRefusal(answer).failure(of: "read /ServiceProviderConfig") }
    guard answer.json?["patch"]?["supported"]?.bool == true else {
      throw .unsupported("the directory does not take PATCH requests, which the gateway needs")
    }
    guard let nobody = try? EmailAddress("enroll-gateway-check@nobody.invalid") else { return }
    _ = try person(with: nobody)
  }
}

extension SCIMDirectory {
  private func send(_ request: DirectoryHTTP.Request) throws(DirectoryFailure) -> DirectoryHTTP.Answer {
    var request = request
    request.mediaType = Self.mediaType
    return try http.send(request)
  }

  private func path(_ id: String) throws(DirectoryFailure) -> String {
    guard let segment = DirectoryHTTP.segment(id) else { throw .unknownPerson }
    return "/Users/" + segment
  }

  private func user(_ id: String) throws(DirectoryFailure) -> SCIMUser {
    let answer = try send(.init(method: .get, path: try path(id)))
    guard answer.isSuccess else { throw SCIMRefusal(answer).failure(of: "read") }
    guard var user = answer.json.flatMap({ SCIMUser($0) }), ASCII.equals(user.id, id) else {
      throw .fault("the directory answers with another user than the one that was asked for")
    }
    user.version = user.version ?? answer.entityTag
    return user
  }

  /// Changes a user, conditional on the version that was read. If the user was changed meanwhile (412), reads and tries once
  /// more.
  /// - Parameter body: returns nil if there is nothing to change.
  private func change(
    _ id: String, _ operation: String, _ body: (SCIMUser) throws(DirectoryFailure) -> JSON?
  ) throws(DirectoryFailure) {
    for isLast in [false, true] {
      let user = try user(id)
      guard let body = try body(user) else { return }
      let answer = try send(
        .init(method: .patch, path: try path(id), body: body, ifMatch: user.version))
      if answer.isSuccess { return }
      if answer.status == 412 && !isLast { continue }
      throw SCIMRefusal(answer).failure(of: operation)
    }
  }
}
