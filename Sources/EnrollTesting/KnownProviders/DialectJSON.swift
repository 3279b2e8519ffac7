// Reads dialects from JSON.

import EnrollJSON

extension Dialect {
  /// - Throws: ``DialectError`` for a member or a value that the fake does not support.
  init(_ json: JSON) throws(DialectError) {
    let all = try DialectReader(json, path: "")
    issuer = try all.required("issuer")
    discovery = try Discovery(all.part("discovery"))
    urls = try Self.urls(all.part("urls"))
    client = try Client(all.part("client"))
    refusals = try Refusals(all.part("refusals"))
    redirect = try Redirect(all.part("redirect"))
    scope = try Scope(all.part("scope"))
    authorize = try Authorize(all.part("authorize"))
    token = try Token(all.part("token"))
    idToken = try IDToken(all.part("idToken"))
    refresh = try Refresh(all.part("refresh"))
    userinfo = try Userinfo(all.part("userinfo"))
    logout = try Logout(all.part("logout"))
    revocation = try Revocation(all.part("revocation"))
    device = try Device(all.part("device"))
    keys = try Keys(all.part("jwks"))
    dpop = try DPoP(all.part("dpop"))
    par = try PAR(all.part("par"))
    _ = all.json("remarks")
    try all.end()
  }

  private static func urls(_ part: DialectReader) throws(DialectError) -> [String: String] {
    var urls: [String: String] = [:]
    for role in ["authorization", "token", "userinfo", "jwks", "revocation", "device"] {
      urls[role] = try part.text(role)
    }
    try part.end()
    return urls
  }
}

extension Dialect.Discovery {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    status = try part.integer("status")
    url = try part.text("url")
    path = try part.text("path")
    isAtIssuer = try part.boolean("atIssuer") ?? false
    issuer = try part.text("issuer")
    omit = try part.texts("omit") ?? []
    extra = part.json("extra")?.object ?? JSONObject()
    try part.end()
  }
}

extension Dialect.Client {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    let secret = try part.part("secret")
    code = try secret.word("code") ?? .none
    refresh = try secret.word("refresh") ?? code
    device = try secret.word("device") ?? code
    try secret.end()
    methods = try part.texts("authMethods") ?? ["client_secret_basic", "client_secret_post"]
    pkce = try part.word("pkce") ?? .supported
    wrongMethod = try part.word("wrongMethod") ?? .refused
    try part.end()
  }
}

extension Dialect.Refusals {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    code = try Self.answer(part, "code")
    secret = try Self.answer(part, "secret")
    client = try Self.answer(part, "client")
    scope = try Self.answer(part, "scope")
    revocation = try Self.answer(part, "revocation")
    try part.end()
  }

  private static func answer(_ part: DialectReader, _ name: String) throws(DialectError) -> Answer? {
    let answer = try part.part(name)
    let (status, error) = (try answer.integer("status"), try answer.text("error"))
    try answer.end()
    return status.map { Answer(status: $0, error: error) }
  }
}

extension Dialect.Redirect {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    loopbackHosts = try part.texts("loopbackHosts")
    port = try part.word("port") ?? .any
    switch part.json("customScheme") {
    case nil, .string("any"): customSchemes = nil
    case .string("refused"): customSchemes = []
    case let json?:
      guard let patterns = DialectReader.texts(json) else {
        throw DialectError("/redirect/customScheme: expected any, refused or patterns")
      }
      customSchemes = patterns
    }
    isHTTPSOnly = try part.boolean("httpsOnly") ?? false
    addsSlash = try part.boolean("slashAddedWhenNoPath") ?? false
    try part.end()
  }
}

extension Dialect.Scope {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    switch part.json("refuses") {
    case nil: (refused, accepted) = ([], nil)
    case .object(let object)?:
      guard let texts = object["except"].flatMap({ DialectReader.texts($0) }) else {
        throw DialectError("/scope/refuses/except: expected texts")
      }
      (refused, accepted) = ([], texts)
    case let json?:
      guard let texts = DialectReader.texts(json) else {
        throw DialectError("/scope/refuses: expected texts")
      }
      (refused, accepted) = (texts, nil)
    }
    switch part.json("offline") {
    case nil: offline = ["offline_access"]
    case .string("always"): offline = nil
    case .string("never"): offline = []
    case let json?:
      guard let texts = DialectReader.texts(json) else {
        throw DialectError("/scope/offline: expected always, never or scopes")
      }
      offline = texts
    }
    `default` = try part.texts("default") ?? []
    needsOpenID = try part.boolean("needsOpenid") ?? false
    offlineNeedsConsent = try part.boolean("offlineNeedsConsent") ?? false
    try part.end()
  }
}

extension Dialect.Authorize {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    prompts = try part.texts("prompts")
    unknownPrompt = try part.word("unknownPrompt") ?? .ignored
    responseMode = try part.word("responseMode") ?? .query
    keepsSession = try part.boolean("session") ?? true
    try part.end()
  }
}

extension Dialect.Token {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    let life = part.json("expiresIn") ?? .integer(3600)
    expiresIn = life == .string("absent") ? nil : life
    scopeSeparator = try part.text("scopeSeparator")
    type = try part.text("tokenType")
    errorStatus = try part.integer("errorStatus")
    errorShape = part.json("errorShape")
    extra = part.json("extra")?.object ?? JSONObject()
    accessToken = try part.word("accessToken") ?? .always
    isFormUnlessAccepted = try part.boolean("formUnlessAccept") ?? false
    retryHeader = try part.text("retryHeader")
    try part.end()
  }
}

extension Dialect.IDToken {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    presence = part.json("present") == .bool(false) ? .never : .openid
    issuer = try part.text("iss")
    audience = try part.texts("aud")
    hasAzp = try part.boolean("azp") ?? false
    hasNonce = part.json("nonce") != .string("absent")
    hasTenant = try part.boolean("tid") ?? false
    algorithm = try part.text("alg") ?? "RS256"
    profileClaims = try part.word("profileClaims") ?? .full
    emailVerified = try part.word("emailVerified") ?? .boolean
    authTime = try part.word("authTime") ?? .always
    try part.end()
  }
}

extension Dialect.Refresh {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    isIssued = try part.boolean("issued") ?? true
    switch part.json("rotates") {
    case nil, .bool(true): rotation = .always
    case .bool(false): rotation = .never
    case .string("sometimes"): rotation = .sometimes
    default: throw DialectError("/refresh/rotates: expected true, false or sometimes")
    }
    graceSeconds = try part.integer("graceSeconds") ?? 0
    reuse = try part.word("reuse") ?? .refused
    bringsRefreshToken = try part.boolean("returnsRefreshToken") ?? true
    bringsIDToken = try part.boolean("idToken") ?? true
    authTime = try part.word("authTime") ?? .same
    audience = try part.word("audience") ?? .same
    scope = try part.word("scope") ?? .narrows
    hasNonce = try part.boolean("nonce") ?? false
    spentCode = try part.word("spentCode") ?? .refused
    let error = try part.part("error")
    errorStatus = try error.integer("status")
    self.error = try error.text("error")
    errorDescription = try error.text("error_description")
    try error.end()
    try part.end()
  }
}

extension Dialect.Userinfo {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    subject = try part.text("subject") ?? "sub"
    subjectType = try part.word("subjectType") ?? .text
    wrapper = try part.text("wrapper")
    claims = try part.texts("claims")
    let names = try part.part("names")
    var other: [String: String] = [:]
    for claim in ["name", "email", "email_verified"] { other[claim] = try names.text(claim) }
    self.names = other
    try names.end()
    emailVerified = try part.word("emailVerified") ?? .boolean
    requiresUserAgent = try part.boolean("requiresUserAgent") ?? false
    emails = try part.text("emails")
    try part.end()
  }
}

extension Dialect.Logout {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    style = try part.word("style") ?? .rp
    switch part.json("returnsState") {
    case nil, .bool(true): returnsState = .always
    case .bool(false): returnsState = .never
    case .string("httpsOnly"): returnsState = .httpsOnly
    default: throw DialectError("/logout/returnsState: expected true, false or httpsOnly")
    }
    // `otherwise` describes the real provider's answer to any other logout request. The fake does not use this text,
    // because it always shows an error page.
    _ = try part.text("otherwise")
    needsIDTokenHint = try part.boolean("needsIDTokenHint") ?? false
    try part.end()
  }
}

extension Dialect.Revocation {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    style = try part.word("style") ?? .rfc7009
    publicClient = try part.word("publicClient") ?? .accepted
    try part.end()
  }
}

extension Dialect.Device {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    style = try part.word("style") ?? .rfc8628
    uriMember = try part.text("uriMember") ?? "verification_uri"
    pendingStatus = try part.integer("pendingStatus")
    slowDownStatus = try part.integer("slowDownStatus")
    bringsInterval = try part.boolean("slowDownBringsInterval") ?? false
    hasCompleteURI = part.json("complete") != .string("absent")
    deniedError = try part.text("deniedError") ?? "access_denied"
    expiredError = try part.text("expiredError") ?? "expired_token"
    publicClient = try part.word("publicClient") ?? .accepted
    refused = try part.texts("refuses") ?? []
    _ = try part.boolean("announced")
    try part.end()
  }
}

extension Dialect.Keys {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    algorithmsOfOneKid = try part.texts("sameKidManyAlgs") ?? []
    issuerPerKey = try part.word("issuerPerKey")
    encryption = try part.word("enc")
    isEmpty = try part.boolean("empty") ?? false
    members = try part.texts("members")
    try part.end()
  }
}

extension Dialect.DPoP {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    isAnnounced = try part.boolean("announced") ?? false
    bindsWhenProven = try part.boolean("bindsWhenProven") ?? false
    try part.end()
  }
}

extension Dialect.PAR {
  fileprivate init(_ part: DialectReader) throws(DialectError) {
    isAnnounced = try part.boolean("announced") ?? false
    publicClient = try part.word("publicClient") ?? .accepted
    try part.end()
  }
}
