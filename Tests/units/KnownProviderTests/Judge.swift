// Decides whether the recorded exchanges of a real server support a value of a dialect.

import EnrollJSON

/// One value of a dialect, and the exchanges that it cites.
struct Judge {
  let value: JSON
  let exchanges: [Exchange]

  private var first: Exchange { exchanges[0] }
  private var last: Exchange { exchanges[exchanges.count - 1] }

  /// The reason why `path` is not proven: no rule checks it, or the exchanges do not show its value. nil if
  /// it is proven.
  func refutation(of path: String) -> String? {
    guard let rule = Self.rules.filter({ path.hasPrefix($0.at) }).max(by: { $0.at.count < $1.at.count })
    else {
      return "no rule of the judge reads \(path)"
    }
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    return rule.holds(self, name)
      ? nil : "\(path) is not \(String(decoding: value.serialized(), as: UTF8.self))"
  }

  private struct Rule: Sendable {
    let at: String
    let holds: @Sendable (Judge, String) -> Bool

    init(_ at: String, _ holds: @escaping @Sendable (Judge, String) -> Bool) {
      (self.at, self.holds) = (at, holds)
    }
  }

  private static let rules: [Rule] = metadata + clients + browser + tokens + refresh + refusals + others

  private static let metadata: [Rule] = [
    Rule("/issuer") { judge, _ in
      let issuers = [judge.value, judge.first.answer["issuer"] ?? .null].map { path($0.string ?? "") }
      return issuers[0].count == issuers[1].count
        && zip(issuers[0], issuers[1]).allSatisfy { $0 == $1 || $0.hasPrefix("<") }
    },
    Rule("/discovery/extra") { $0.first.answer[$1] == $0.value },
    Rule("/discovery/omit") { judge, _ in
      judge.first.answer["issuer"] != nil
        && judge.value.array?.allSatisfy { judge.first.answer[$0.string ?? ""] == nil } ?? false
    },
    Rule("/discovery/path") { $0.first.path == $0.value.string && $0.first.status == 200 && $1 == "path" },
    Rule("/urls") { judge, role in
      let member = role == "jwks" ? "jwks_uri" : role + "_endpoint"
      return path(judge.value.string ?? "") == path(judge.first.answer[member]?.string ?? "")
    },
    Rule("/logout/style") { judge, _ in judge.announces("end_session_endpoint", unless: "none") },
    Rule("/revocation/style") { judge, _ in judge.announces("revocation_endpoint", unless: "none") },
    Rule("/device/style") { judge, _ in
      judge.value == .string("none")
        ? judge.announces("device_authorization_endpoint", unless: "none")
        : judge.first.answer["device_code"] != nil
    },
    Rule("/dpop/announced") { judge, _ in judge.announces("dpop_signing_alg_values_supported") },
    Rule("/par/announced") { judge, _ in judge.announces("pushed_authorization_request_endpoint") },
    Rule("/jwks/members") { judge, _ in
      let key = judge.first.answer["keys"]?.array?.first?.object?.members.map(\.key) ?? []
      return Set(key) == Set(judge.value.array?.compactMap(\.string) ?? [])
    },
    Rule("/jwks/enc") { judge, _ in
      let keys = judge.first.answer["keys"]?.array ?? []
      let isShared = keys.contains { key in
        key["use"] == .string("enc")
          && keys.contains { $0["use"] == .string("sig") && $0["kid"] == key["kid"] }
      }
      return keys.contains { $0["use"] == .string("enc") } && isShared == (judge.value == .string("sameKid"))
    },
  ]

  private static let clients: [Rule] = [
    Rule("/client/secret") { judge, _ in
      judge.value == .string("none") && !judge.first.isAuthenticated && judge.first.status == 200
    },
    Rule("/revocation/publicClient") { judge, _ in judge.takesPublicClient(200) },
    Rule("/par/publicClient") { judge, _ in judge.takesPublicClient(201) },
    Rule("/device/publicClient") { judge, _ in judge.takesPublicClient(200) },
  ]

  private static let browser: [Rule] = [
    Rule("/redirect/port") { judge, _ in
      let uri = judge.first.query["redirect_uri"] ?? judge.first.form["redirect_uri"] ?? ""
      let hasPort = uri.dropFirst("http://".count).prefix { $0 != "/" }.contains { $0 == ":" }
      return hasPort && (judge.value == .string("any")) == [200, 201, 302, 303].contains(judge.first.status)
    },
    Rule("/authorize/prompts") { judge, _ in
      let known = judge.value.array?.compactMap(\.string) ?? []
      if let told = judge.first.answer["prompt_values_supported"] { return told == judge.value }
      return judge.exchanges.allSatisfy { exchange in
        let asked = exchange.query["prompt"]?.split(separator: " ").map(String.init) ?? []
        let isRefused = exchange.returned["error"] == "invalid_request"
        return !asked.isEmpty && (!isRefused || !asked.allSatisfy(known.contains))
      }
    },
    Rule("/authorize/unknownPrompt") { judge, _ in
      judge.value == .string("redirect") && judge.first.returned["error"] == "invalid_request"
        && judge.first.location.hasPrefix(judge.first.query["redirect_uri"] ?? "?")
    },
    Rule("/authorize/session") { judge, _ in
      judge.value == .bool(false) && judge.first.query["prompt"] == "none"
        && judge.first.returned["code"] == nil
    },
    Rule("/scope/refuses") { judge, _ in
      let refused = judge.value.array?.first?.string ?? ""
      return judge.first.returned["error"] == "invalid_scope"
        && judge.first.query["scope"]?.split(separator: " ").contains { $0 == refused } ?? false
    },
    Rule("/logout/returnsState") { judge, _ in
      judge.value == .bool(judge.first.returned["state"] != nil) && !judge.first.location.isEmpty
    },
    Rule("/logout/needsIDTokenHint") { judge, _ in
      judge.first.query["id_token_hint"] == nil && judge.value == .bool(judge.first.status == 400)
    },
  ]

  private static let tokens: [Rule] = [
    Rule("/scope/offline") { judge, _ in
      let offline = judge.value.array?.compactMap(\.string)
      return judge.exchanges.allSatisfy { exchange in
        let isRenewable = exchange.answer["refresh_token"] != nil
        guard let offline else { return isRenewable && exchange.granted?.contains("offline_access") == false }
        return exchange.granted.map { isRenewable != $0.isDisjoint(with: offline) } ?? true
      } && (offline == nil || Set(judge.exchanges.map { $0.answer["refresh_token"] == nil }).count == 2)
    },
    Rule("/scope/offlineNeedsConsent") { judge, _ in
      stride(from: 0, to: judge.exchanges.count - 1, by: 2).allSatisfy {
        let asked = judge.exchanges[$0].form
        return asked["scope"]?.contains("offline_access") ?? false
          && (asked["prompt"] == "consent") == (judge.exchanges[$0 + 1].answer["refresh_token"] != nil)
      }
    },
    Rule("/token/expiresIn") { judge, _ in
      // The clock may have passed to the next second.
      let seconds = [judge.first.answer["expires_in"]?.integer ?? -9, judge.value.integer ?? 0]
      return abs(seconds[0] - seconds[1]) <= 1
    },
    Rule("/token/scopeSeparator") { judge, _ in
      judge.first.answer["scope"]?.string?.contains(judge.value.string ?? "?") ?? false
    },
    Rule("/token/tokenType") { judge, _ in
      judge.value == judge.first.answer["token_type"] ?? .string("absent")
    },
    Rule("/idToken/present") { judge, _ in judge.value == .bool(judge.first.answer["id_token"] != nil) },
    Rule("/idToken/profileClaims") { judge, _ in
      judge.first.claims != nil
        && judge.value == .string(judge.first.claims?["name"] == nil ? "thin" : "full")
    },
    Rule("/idToken/azp") { judge, _ in
      judge.first.claims != nil && judge.value == .bool(judge.first.claims?["azp"] != nil)
    },
    Rule("/idToken/aud") { judge, _ in
      judge.first.claims?["aud"]?.array?.count == judge.value.array?.count
    },
    Rule("/idToken/authTime") { judge, _ in
      judge.first.claims != nil && judge.first.claims?["auth_time"] == nil
    },
    Rule("/dpop/bindsWhenProven") { judge, _ in
      judge.value == .bool(judge.first.answer["token_type"] == .string("DPoP"))
    },
  ]

  private static let refresh: [Rule] = [
    Rule("/refresh/issued") { judge, _ in judge.value == .bool(judge.first.answer["refresh_token"] != nil) },
    Rule("/refresh/rotates") { judge, _ in
      let given = judge.first.answer["refresh_token"]?.string
      return given != nil && judge.value == .bool(given != judge.first.form["refresh_token"])
    },
    Rule("/refresh/returnsRefreshToken") { judge, _ in
      judge.first.form["refresh_token"] != nil
        && judge.value == .bool(judge.first.answer["refresh_token"] != nil)
    },
    Rule("/refresh/idToken") { judge, _ in judge.value == .bool(judge.first.answer["id_token"] != nil) },
    Rule("/refresh/reuse") { judge, _ in
      let refused = judge.exchanges.filter { $0.form["refresh_token"] != nil && $0.status >= 400 }
      return judge.value == .string("family") && refused.count == judge.exchanges.count
        && Set(refused.map { $0.form["refresh_token"] }).count > 1
    },
    Rule("/refresh/graceSeconds") { judge, _ in
      judge.value == .integer(0) && judge.first.form["refresh_token"] != nil && judge.first.status == 400
    },
    Rule("/refresh/nonce") { judge, _ in
      judge.first.claims?["nonce"] != nil
        && judge.value == .bool(judge.last.claims?["nonce"] == judge.first.claims?["nonce"])
    },
    Rule("/refresh/authTime") { judge, _ in
      let times = judge.exchanges.map { $0.claims?["auth_time"] }
      return judge.value == .string("same") && times[0] != nil && times[0] == times[times.count - 1]
    },
    Rule("/refresh/scope") { judge, _ in
      let asked = Set((judge.first.form["scope"] ?? "").split(separator: " ").map(String.init))
      guard let granted = judge.first.granted, !asked.isEmpty else { return false }
      switch judge.value {
      case .string("ignored"): return granted.isStrictSuperset(of: asked)
      case .string("narrows"): return granted == asked
      default: return granted == asked && judge.last.answer["error"] == .string("invalid_scope")
      }
    },
  ]

  private static let refusals: [Rule] = [
    Rule("/refresh/error") { $0.isAnsweredSo($1) && $0.first.form["refresh_token"] != nil },
    Rule("/refusals") { $0.isAnsweredSo($1) },
    Rule("/refusals/code") { $0.isAnsweredSo($1) && $0.first.form["code"] != nil },
    Rule("/refusals/revocation") { $0.isAnsweredSo($1) && $0.first.form["token"] != nil },
    Rule("/device/pendingStatus") { judge, _ in judge.isPolled("authorization_pending") },
    Rule("/device/slowDownStatus") { judge, _ in judge.isPolled("slow_down") },
    Rule("/device/deniedError") { judge, _ in judge.isPolled(judge.value.string ?? "") },
    Rule("/device/expiredError") { judge, _ in judge.isPolled(judge.value.string ?? "") },
  ]

  private static let others: [Rule] = [
    Rule("/device/refuses") { judge, _ in
      let refused = judge.value.array?.first?.string ?? ""
      return judge.first.answer["error"] == .string("invalid_scope")
        && judge.first.form["scope"]?.split(separator: " ").contains { $0 == refused } ?? false
    }
  ]

  private func announces(_ member: String, unless none: String? = nil) -> Bool {
    guard first.answer["issuer"] != nil else { return false }
    let isThere = first.answer[member] != nil
    return none.map { (value == .string($0)) != isThere } ?? (value == .bool(isThere))
  }

  private func takesPublicClient(_ status: Int64) -> Bool {
    guard !first.isAuthenticated else { return false }
    return value == .string("accepted") ? first.status == status : first.status == 401
  }

  private func isAnsweredSo(_ member: String) -> Bool {
    member == "status" ? value == .integer(first.status) : value == first.answer["error"]
  }

  private func isPolled(_ error: String) -> Bool {
    first.form["device_code"] != nil && first.answer["error"] == .string(error)
      && (value.integer.map { $0 == first.status } ?? true)
  }

  /// The components of an issuer's path.
  private static func path(_ issuer: String) -> [Substring] {
    issuer.drop { $0 != ":" }.dropFirst("://".count).drop { $0 != "/" }
      .split(separator: "/", omittingEmptySubsequences: false)
  }
}
