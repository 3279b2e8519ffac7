// The sandbox as a program: starts the provider, says in one line of JSON where it is, then logs requests on stderr.
// Without the trait `Sandbox` there is no provider to start, and the program says how to get one.

public import ArgumentParser
public import EnrollCrypto
public import EnrollSandbox
import Foundation

@main
struct EnrollSandboxCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enroll-sandbox",
    abstract: "A local OpenID provider for demos and tests.",
    discussion: """
      Listens on 127.0.0.1 alone and keeps everything in memory. When it is ready it prints one line of JSON: \
      where it is, who can sign in, and a configuration for EnrollKit. Requests are logged on stderr without \
      secrets. Ends with SIGINT or SIGTERM.
      """)

  @Option(help: "The port; 0: the system chooses.")
  var port: UInt16 = 4280

  @Option(name: .customLong("user"), help: "One more user; the password is NAME-password. Repeatable.")
  var users: [String] = []

  @Option(help: "The client's id.")
  var clientID = Client.sample.id

  @Option(
    name: .customLong("redirect-uri"),
    help: "A redirect URI instead of the sample client's. Repeatable; a loopback one matches any port.")
  var redirectURIs: [String] = []

  @Option(
    name: .customLong("post-logout-redirect-uri"),
    help: "An address to return to after signing out, instead of the sample client's. Repeatable.")
  var postLogoutRedirectURIs: [String] = []

  @Option(help: "The sample client's secret. Without one the client is public.")
  var clientSecret: String?

  @Flag(help: "Let clients register themselves (RFC 7591), for example for the resource at /notes.")
  var openRegistration = false

  @Option(help: "Seconds that an access token works.")
  var accessLifetime: Int64 = 300

  @Option(help: "Seconds that a refresh token works, counted anew at each rotation.")
  var refreshLifetime: Int64 = 30 * 86_400

  @Option(help: "Seconds in which the refresh token before the current one may be sent again.")
  var grace: Int64 = 0

  @Option(help: "Seconds between two polls of a device.")
  var deviceInterval: Int64 = 5

  @Option(help: "The algorithm that signs id_tokens; the others have keys in the set as well.")
  var algorithm: SignatureAlgorithm = .RS256

  @Option(help: "Pushed authorization requests (RFC 9126): off, offered or required.")
  var pushedRequests: SandboxOptions.Offer = .off

  @Flag(help: "Lead whoever has to sign in to the gateway's pages, where registration is by e-mail.")
  var gateway = false

  @Option(
    help:
      "What the gateway's e-mails link to, with {activationToken} in it; its own welcome page by default.")
  var activationLink: String?

  @Option(help: "Tokens bound to a key (RFC 9449): off, offered or required.")
  var dpop: SandboxOptions.Offer = .off

  @Flag(help: "Every proof needs the nonce of the last answer (RFC 9449).")
  var demandNonces = false

  @Flag(help: "Print a configuration for EnrollKit and exit.")
  var printConfig = false

  @Flag(help: "Print the faults that POST /_control can plan, and exit.")
  var faults = false

  @Flag(help: "End when stdin closes, so that the sandbox does not outlive who started it.")
  var exitWithStdin = false

  @Flag(help: "Log no requests.")
  var quiet = false

  func validate() throws {
    guard accessLifetime > 0, refreshLifetime > 0, grace >= 0, deviceInterval > 0 else {
      throw ValidationError("Lifetimes and intervals are greater than 0, and --grace is not negative.")
    }
    guard activationLink?.contains("{activationToken}") ?? true else {
      throw ValidationError("--activation-link has {activationToken} in it.")
    }
  }

  func run() async throws {
    if faults { return print(FaultTable.text) }
    let options = options
    if printConfig {
      let provider = try Provider(options, issuer: "http://127.0.0.1:\(port)")
      return print(await provider.readableConfiguration)
    }
    let sandbox = try Sandbox(options)
    let issuer: String
    do {
      issuer = try await sandbox.start()
    } catch {
      let why =
        error is Sandbox.PortIsTaken
        ? "is taken by another program: end that program, or choose another port by --port"
        : "cannot be used: \(error)"
      FileHandle.standardError.write(Data("enroll-sandbox: port \(port) \(why)\n".utf8))
      throw ExitCode(1)
    }
    FileHandle.standardOutput.write(Data((await sandbox.provider.readyLine + "\n").utf8))
    if !quiet {
      FileHandle.standardError.write(Data("enroll-sandbox: ready at \(issuer), end with Ctrl-C\n".utf8))
    }
    await Ending.wait(orStdin: exitWithStdin)
    await sandbox.stop()
  }

  private var options: SandboxOptions {
    var options = SandboxOptions()
    options.port = port
    options.users += users.filter { name in !options.users.contains { $0.name == name } }.map { User($0) }
    var client = Client.sample
    client.id = clientID
    client.secret = clientSecret
    if !redirectURIs.isEmpty { client.redirectURIs = redirectURIs }
    if !postLogoutRedirectURIs.isEmpty { client.postLogoutRedirectURIs = postLogoutRedirectURIs }
    options.clients = [client]
    options.accessLifetimeSeconds = accessLifetime
    options.idTokenLifetimeSeconds = accessLifetime
    options.refreshLifetimeSeconds = refreshLifetime
    options.refreshGraceSeconds = grace
    options.pushedRequests = pushedRequests
    options.deviceIntervalSeconds = deviceInterval
    options.registersClients = openRegistration
    options.gateway.isUsed = gateway
    options.gateway.activationLink = activationLink
    options.dpop = dpop
    options.demandsNonces = demandNonces
    options.algorithms = [algorithm] + SignatureAlgorithm.allCases.filter { $0 != algorithm }
    if !quiet { options.log = { FileHandle.standardError.write(Data(($0 + "\n").utf8)) } }
    return options
  }
}

extension SignatureAlgorithm: ExpressibleByArgument {}
extension SandboxOptions.Offer: ExpressibleByArgument {}
