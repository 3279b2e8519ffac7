// Commands that only apply rules to values: they use no client, no network and no store.

import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix

extension CommandTable {
  static let valueCommands = [
    Command(
      "pkce.generate", method: "pkce", .memory, "Makes a verifier and its S256 challenge (RFC 7636 §4).",
      client: false,
      gives: .object(
        [
          .required(
            "codeVerifier", .text("A secret, 43 characters of base64url.", maximumBytes: 43).sensitive),
          .required("codeChallenge", .text("The SHA-256 of the verifier, in base64url.", maximumBytes: 43)),
          .required("codeChallengeMethod", .word("S256", "Always S256.")),
        ], "A PKCE verifier and its challenge (RFC 7636 §4)."
      ).named("PKCE"), source: "RFC 7636 §4.1, §4.2"
    ) { _ throws(EnrollError) in
      let pair = try PKCE.make(random: try SystemRandomSource().bytes(PKCE.randomByteCount))
      return .object([
        ("codeVerifier", .string(pair.verifier.reveal())), ("codeChallenge", .string(pair.challenge)),
        ("codeChallengeMethod", .string(PKCE.challengeMethod)),
      ])
    },
    Command(
      "redirect.parse", method: "parseRedirect", .memory,
      "Parses a redirect without verifying it (RFC 6749 §4.1.2, RFC 9207).",
      client: false, takes: [.required("url", .url)],
      gives: .object(
        [
          .optional("code", .text("The authorization code.", maximumBytes: 8192).sensitive),
          .optional(
            "state",
            .text("The state, which names the transaction; not verified.", maximumBytes: 8192).sensitive),
          .optional("iss", .text("The issuer that the redirect names; not verified.", maximumBytes: 8192)),
          .optional("error", .text("The provider's error code.", maximumBytes: 64)),
          .optional("errorDescription", .text("The provider's text for the developer.")),
        ], "A redirect as parsed, not verified."
      ).named("Redirect"),
      fails: CommandErrors(also: .redirectMalformed), source: "RFC 6749 §4.1.2, RFC 9207"
    ) { call throws(EnrollError) in
      let redirect = try Redirect(parsing: try call.requiredText("url"))
      return .object([
        ("code", try redirect.code().map { .string($0.reveal()) }),
        ("state", redirect.state.map { .string($0.reveal()) }),
        ("iss", redirect.issuer.map { .string($0.text) }),
        ("error", redirect.errorCode.map { .string($0) }),
        ("errorDescription", redirect.errorDescription.map { .string($0) }),
      ])
    },
    Command(
      "redirect.route", .memory,
      "Finds which of several configurations a URL belongs to. Reads no store: the URL may still be unsolicited.",
      client: false,
      takes: [
        .required(
          "configurations",
          Schema(
            .list(.configuration.as("The configuration of one environment."), maximumCount: 64),
            "All configurations of the app.")),
        .required("url", .url),
      ],
      gives: .object(
        [
          .optional(
            "index",
            Schema(.integer(0...63), "The index of the configuration that owns the URL. Absent if none does.")
          ),
          .optional(
            "kind",
            .words(
              "Ownership", Configuration.Ownership.allCases.map { $0.rawValue },
              "How a URL relates to the configuration that owns it.")),
        ], "The configuration that a URL belongs to."
      ).named("Route"),
      fails: CommandErrors(also: .redirectMalformed, .configuration, .json)
    ) { call throws(EnrollError) in
      var configurations: [Configuration] = []
      for json in call.parameters["configurations"]?.array ?? [] {
        configurations.append(try Configuration(json: json))
      }
      let owner = try Configuration.owner(of: try call.requiredText("url"), among: configurations)
      return .object([
        ("index", owner.map { .integer(Int64($0.index)) }),
        ("kind", owner.map { .string($0.ownership.rawValue) }),
      ])
    },
    Command(
      "link.parse", method: "parseLink", .memory,
      "Parses a link strictly, or refuses it. Repairs nothing.",
      client: false, takes: [.required("url", .url)],
      gives: .object(
        [
          .required(
            "kind",
            .words("LinkKind", ["https", "loopbackHTTP", "privateScheme"], "The kind of a permitted link.")),
          .required("scheme", .text("The scheme, in lower case.", maximumBytes: 8192)),
          .optional("host", .text("The host; an IPv6 address with its brackets.", maximumBytes: 8192)),
          .optional("port", Schema(.integer(1...65_535), "The port, if the link has one.")),
          .required("path", .text("The path, unchanged.", maximumBytes: 8192)),
          .optional("query", .text("The query, without the question mark.", maximumBytes: 8192).sensitive),
          .required("hadFragment", Schema(.boolean, "Whether the URL had a fragment, which was dropped.")),
        ], "A link that the allow-list accepts."
      ).named("Link"),
      fails: CommandErrors(also: .redirectMalformed), source: "RFC 3986, RFC 8252 §7"
    ) { call throws(EnrollError) in
      try parsedLink(try call.requiredText("url"))
    },
    Command(
      "expiry.check", method: "checkExpiry", .memory,
      "Determines whether a token is fresh, due or expired.", client: false,
      takes: [
        .required("expiresAt", .date("When the token expires.")),
        .optional("now", .date("The current time. By default the time of this device's clock.")),
        .optional(
          "grace", .seconds(0...86_400, "How long before its expiry the token becomes due."),
          default: .integer(60)),
        .minimumLifetime,
        .optional(
          "lifetime",
          .seconds(1 ... .max, "The token's total lifetime; at most half of it counts as grace period.")),
      ],
      gives: .object(
        [
          .required(
            "band",
            .words(
              "Band", ["fresh", "due", "expired"],
              "The phase of a token's life. fresh: use it. due: renew it. expired: renew it or fail.")),
          .required(
            "secondsLeft",
            .seconds(.min ... .max, "The time until the token expires; negative once it has expired.")),
        ], "The phase of a token's life."
      ).named("Expiry")
    ) { call in
      checkedExpiry(call)
    },
  ]

  private static func parsedLink(_ text: String) throws(EnrollError) -> JSON {
    let url: StrictURL
    do throws(StrictURL.Refusal) {
      url = try StrictURL(text)
    } catch {
      throw EnrollError(.redirectMalformed, error.text, field: "url")
    }
    let kind =
      switch url.kind {
      case .https: "https"
      case .loopbackHTTP: "loopbackHTTP"
      case .privateScheme: "privateScheme"
      }
    return .object([
      ("kind", .string(kind)), ("scheme", .string(url.text(url.scheme))),
      ("host", url.hostText.map { .string($0) }), ("port", url.port.map { .integer(Int64($0)) }),
      ("path", .string(url.text(url.path))), ("query", url.query.map { .string(url.text($0)) }),
      ("hadFragment", .bool(url.hadFragment)),
    ])
  }

  /// The time until a token's expiry, computed only from the date: the boot in which the token was received is unknown
  /// here.
  private static func checkedExpiry(_ call: Invocation) -> JSON {
    let now = call.integer("now").map { UnixTime(seconds: $0) } ?? SystemClock().wallTime()
    let moment = Moment(wall: now, instant: Instant(nanoseconds: 0), bootID: "now")
    let expiry = Expiry(
      expiresAt: UnixTime(seconds: call.integer("expiresAt") ?? 0), deadline: .distantFuture, bootID: "then",
      lifetimeSeconds: call.integer("lifetime") ?? .max)
    let band = expiry.band(
      at: moment, graceSeconds: call.integer("grace") ?? 60,
      minimumLifetimeSeconds: call.integer("minimumLifetime") ?? 0)
    return .object([
      ("band", .string(band.rawValue)), ("secondsLeft", .integer(expiry.secondsLeft(at: moment))),
    ])
  }
}
