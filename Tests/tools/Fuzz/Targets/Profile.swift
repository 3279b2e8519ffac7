// Fuzz target for a user's data from a provider without OpenID Connect. The first line of an input has the paths of the
// mapping; the rest is the provider's response.

import EnrollJSON

@testable import EnrollRules

extension Target {
  static let profile = [
    Target("profile") { input in
      let lines = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
      guard lines.count == 2, let line = text(Array(lines[0])) else { return }
      let paths = line.split(separator: " ").prefix(8).map(String.init).filter {
        ProfileMapping.problem(in: $0) == nil
      }
      let body = Array(lines[1])
      emailAddress(in: body)
      guard !paths.isEmpty, let description = (try? JSON.parse(body))?.object?.withoutNulls else { return }
      let mapping = ProfileMapping(
        subject: paths, name: paths, email: paths, emailVerified: paths, picture: paths)
      let claims: JSONObject
      do throws(EnrollError) {
        claims = try mapping.claims(in: description)
      } catch {
        return require(error.code == .responseInvalid, "a typed refusal")
      }
      let found = paths.compactMap { value(at: $0, in: .object(description)) }
      let first = found.compactMap(claim).first
      require(
        ["sub", "name", "email", "picture"].allSatisfy { claims[$0]?.string == first } && first != nil,
        "the first path with a value counts")
      require(claims["email_verified"]?.bool == found.compactMap { $0.bool }.first, "a truth value")
      let mapped = ["sub", "name", "email", "email_verified", "picture"]
      for member in description.members where !Scopes.contains(member.key, in: mapped) {
        require(claims[member.key] == member.value, "the other members stay")
      }
      require(claims.members.allSatisfy { $0.value == claims[$0.key] }, "no claim twice")
      let response = HTTPResponse(
        status: 200, headers: [HTTPHeader("Content-Type", "application/json")], body: body)
      require((try? UserInfo.accept(response, subject: nil, mapping: mapping)) == claims, "a profile")
      require(
        (try? UserInfo.accept(response, subject: "\(claims["sub"]?.string ?? "")x", mapping: mapping)) == nil,
        "about nobody else (R28)")
    }
  ]

  private static func emailAddress(in body: [UInt8]) {
    guard let claims = try? ProfileMapping.emailClaims(in: HTTPResponse(status: 200, body: body)) else {
      return
    }
    guard let email = claims["email"] else { return require(claims.isEmpty, "no address, no claims") }
    let entries = (try? JSON.parse(body))?.array ?? []
    require(
      entries.contains {
        $0["email"] == email && ($0["verified"]?.bool ?? false) == claims["email_verified"]?.bool
          && ($0["verified"]?.bool == true || $0["primary"]?.bool == true)
      }, "verified is what the provider calls so")
  }

  /// The simplest implementation, for comparison.
  private static func value(at path: String, in json: JSON) -> JSON? {
    path.split(separator: ".", omittingEmptySubsequences: false).reduce(json) { json, name in
      switch json {
      case .object(let object)?: object.members.first { $0.key.utf8.elementsEqual(name.utf8) }?.value
      case .array(let elements)?: place(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
      case .null, .bool, .integer, .number, .string, nil: nil
      }
    }
  }

  /// An index of an array: at most 32 digits that fit into an Int; nil for any other text.
  private static func place(_ name: Substring) -> Int? {
    name.utf8.count <= 32 && name.utf8.allSatisfy(ASCII.isDigit) ? Int(name) : nil
  }

  /// A text that is not empty, or an integer.
  private static func claim(_ json: JSON) -> String? {
    switch json {
    case .string(let text): text.isEmpty ? nil : text
    case .integer(let number): String(number)
    case .null, .bool, .number, .array, .object: nil
    }
  }
}
