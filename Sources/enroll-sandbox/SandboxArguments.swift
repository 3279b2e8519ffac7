// The arguments of `enroll-sandbox`, and the provider that they describe.

import EnrollArguments
import EnrollCrypto
import EnrollSandbox

enum SandboxArguments {
  /// The largest number of seconds that may be added to the clock: a thousand years. With this limit the sum is always
  /// a valid date.
  private static let longest: Int64 = 31_557_600_000

  static let port = Parameter.option(
    "port", value: "port", help: "The port; 0: the system chooses.", in: 0...65_535, default: 4280)
  static let users = Parameter.repeated(
    "user", value: "name", help: "One more user; the password is NAME-password. Repeatable.")
  static let clientID = Parameter.option(
    "client-id", value: "id", help: "The client's id.", default: SandboxClient.sample.id)
  static let redirectURIs = Parameter.repeated(
    "redirect-uri", value: "uri",
    help: "A redirect URI instead of the sample client's. Repeatable; a loopback one matches any port.")
  static let postLogoutRedirectURIs = Parameter.repeated(
    "post-logout-redirect-uri", value: "uri",
    help: "An address to return to after signing out, instead of the sample client's. Repeatable.")
  static let clientSecret = Parameter<String?>.option(
    "client-secret", value: "secret", help: "The sample client's secret. Without one the client is public.")
  static let openRegistration = Parameter.flag(
    "open-registration",
    help: "Let clients register themselves (RFC 7591), for example for the resource at /notes.")
  static let resources = Parameter.repeated(
    "resource", value: "uri",
    help: "A resource server of others for which tokens are issued (RFC 8707). Repeatable.")
  static let accessLifetime = Parameter.option(
    "access-lifetime", value: "seconds", help: "Seconds that an access token works.", in: 1...longest,
    default: 300)
  static let refreshLifetime = Parameter.option(
    "refresh-lifetime", value: "seconds",
    help: "Seconds that a refresh token works, counted anew at each rotation.", in: 1...longest,
    default: 30 * 86_400)
  static let grace = Parameter.option(
    "grace", value: "seconds",
    help: "Seconds in which the refresh token before the current one may be sent again.", in: 0...longest,
    default: 0)
  static let deviceInterval = Parameter.option(
    "device-interval", value: "seconds", help: "Seconds between two polls of a device.", in: 1...longest,
    default: 5)
  static let algorithm = Parameter.choice(
    "algorithm", value: "name",
    help: "The algorithm that signs id_tokens; the others have keys in the set as well.",
    default: SignatureAlgorithm.RS256)
  static let pushedRequests = Parameter.choice(
    "pushed-requests", value: "offer",
    help: "Pushed authorization requests (RFC 9126): off, offered or required.",
    default: SandboxOptions.Offer.off)
  static let gateway = Parameter.flag(
    "gateway", help: "Lead whoever has to sign in to the gateway's pages, where registration is by e-mail.")
  static let activationLink = Parameter<String?>.option(
    "activation-link", value: "link",
    help: "What the gateway's e-mails link to, with {activationToken} in it; its own welcome page by default."
  )
  static let dpop = Parameter.choice(
    "dpop", value: "offer", help: "Tokens bound to a key (RFC 9449): off, offered or required.",
    default: SandboxOptions.Offer.off)
  static let demandNonces = Parameter.flag(
    "demand-nonces", help: "Every proof needs the nonce of the last answer (RFC 9449).")
  static let printConfig = Parameter.flag(
    "print-config", help: "Print a configuration for EnrollKit and exit.")
  static let faults = Parameter.flag(
    "faults", help: "Print the faults that POST /_control can plan, and exit.")
  static let exitWithStdin = Parameter.flag(
    "exit-with-stdin", help: "End when stdin closes, so that the sandbox does not outlive who started it.")
  static let quiet = Parameter.flag("quiet", help: "Log no requests.")

  static let command = Command(
    "enroll-sandbox", "A local OpenID provider for demos and tests.",
    discussion: """
      Listens on 127.0.0.1 alone and keeps everything in memory. When it is ready it prints one line of JSON: where it is, who can \
      sign in, and a configuration for EnrollKit. Requests are logged on stderr without secrets. Ends with SIGINT or SIGTERM.
      """,
    arguments: [
      port.argument, users.argument, clientID.argument, redirectURIs.argument,
      postLogoutRedirectURIs.argument, clientSecret.argument, openRegistration.argument,
      resources.argument, accessLifetime.argument, refreshLifetime.argument, grace.argument,
      deviceInterval.argument,
      algorithm.argument, pushedRequests.argument, gateway.argument, activationLink.argument, dpop.argument,
      demandNonces.argument, printConfig.argument, faults.argument, exitWithStdin.argument, quiet.argument,
    ])

  /// The provider that a command line describes.
  static func options(_ values: Values) throws(UsageError) -> SandboxOptions {
    guard values[activationLink]?.contains("{activationToken}") ?? true else {
      throw UsageError("--activation-link must have {activationToken} in it.")
    }
    guard !values[users].contains("") else { throw UsageError("--user expects the name of a user.") }
    var options = SandboxOptions()
    options.port = UInt16(values[port])
    options.users += values[users].filter { name in !options.users.contains { $0.name == name } }
      .map { User($0) }
    var client = SandboxClient.sample
    client.id = values[clientID]
    client.secret = values[clientSecret]
    if !values[redirectURIs].isEmpty { client.redirectURIs = values[redirectURIs] }
    if !values[postLogoutRedirectURIs].isEmpty {
      client.postLogoutRedirectURIs = values[postLogoutRedirectURIs]
    }
    options.clients = [client]
    options.accessLifetimeSeconds = values[accessLifetime]
    options.idTokenLifetimeSeconds = values[accessLifetime]
    options.refreshLifetimeSeconds = values[refreshLifetime]
    options.refreshGraceSeconds = values[grace]
    options.pushedRequests = values[pushedRequests]
    options.deviceIntervalSeconds = values[deviceInterval]
    options.registersClients = values[openRegistration]
    options.resources += values[resources]
    options.gateway.isUsed = values[gateway]
    options.gateway.activationLink = values[activationLink]
    options.dpop = values[dpop]
    options.demandsNonces = values[demandNonces]
    let signing = values[algorithm]
    options.algorithms = [signing] + SignatureAlgorithm.allCases.filter { $0 != signing }
    return options
  }
}
