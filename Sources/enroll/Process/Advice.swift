// Advice for the user. A command in it is always a case of ``HintedCommand``, so that it is printed with the user's
// own options, and works when the user copies it.

import EnrollRules
import EnrollJSON

/// Text that may contain commands: `"Run \(.login) to try again."`
struct Advice: Equatable, ExpressibleByStringInterpolation {
  fileprivate enum Part: Equatable {
    case words(String)
    case command(HintedCommand)
  }

  private let parts: [Part]

  init(stringLiteral words: String) { parts = [.words(words)] }

  init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ words: String) { parts.append(.words(words)) }
    mutating func appendInterpolation(_ words: String) { parts.append(.words(words)) }
    mutating func appendInterpolation(_ command: HintedCommand) { parts.append(.command(command)) }
  }

  /// The text to print, with commands in backquotes.
  func text(_ said: Said) -> String {
    parts.map { part in
      switch part {
      case .words(let words): words
      case .command(let command): "`\(command.line(said))`"
      }
    }.joined()
  }
}

/// The commands that advice can contain.
enum HintedCommand: CaseIterable {
  case login, loginAgain, loginAsSomebodyElse, loginByDevice
  /// Another sign-in, for Bearer tokens instead of bound tokens.
  case loginForBearer
  /// The first sign-in, for which the user has to fill in the provider.
  case firstLogin
  /// The first sign-in at a resource.
  case loginAtResource
  /// A sign-in with a client that the user registered.
  case loginWithClient
  /// The logout, which ends the session at the provider, too.
  case logout
  /// Another registration of the client at the resource's provider.
  case registerAgain
  /// The command that the user has just run.
  case sameAgain
  case token, doctor, accounts, help, loginHelp

  /// The command line to type, with the options of `said`.
  func line(_ said: Said) -> String {
    let words: [String] =
      switch self {
      case .login: ["login"] + said.signIn
      case .loginAgain: ["login", "--again"] + said.signIn
      case .loginAsSomebodyElse:
        // The prompt is `login`, because many providers refuse `select_account` (Keycloak, Ory Hydra,
        // node-oidc-provider).
        ["login", "--again", "--prompt", "login"] + said.signIn
      case .loginForBearer: ["login", "--again"] + said.signIn + ["--set", "dpop=never"]
      case .loginByDevice: ["login", "--device"] + said.attemptByDevice + said.signIn
      case .firstLogin where said.resource != nil: ["login"] + said.atResource
      case .firstLogin: ["login"] + said.place + ["--issuer", "URL", "--client-id", "ID"]
      case .loginAtResource: ["login"] + said.placeBesideResource + said.atResource
      case .loginWithClient: ["login"] + said.placeBesideResource + said.atResource + ["--client-id", "ID"]
      case .logout: ["logout"] + said.place
      case .registerAgain:
        ["login", "--again", "--register-again"] + said.placeBesideResource
          + (said.registration.isEmpty ? said.atResource : said.registration)
      case .sameAgain where ["login", "register", "doctor"].contains(said.attempt.first):
        said.attempt + said.signIn
      case .sameAgain: said.attempt + said.place + said.provider
      case .token where said.resourceOfPlace != nil:
        ["token"] + said.placeBesideResource + ArgumentWords.option("--resource", said.resourceOfPlace ?? "")
      case .token: ["token"] + said.place
      case .doctor: ["doctor"] + said.signIn
      case .accounts: ["accounts"] + said.place
      case .help: ["--help"]
      case .loginHelp: ["login", "--help"]
      }
    return (["enroll"] + words).map { ShellWord.quoted($0) }.joined(separator: " ")
  }
}

/// The user's options that a hint repeats: configuration, store, account and keys, and the provider if no profile
/// names it.
struct Said {
  var place: [String] = []
  /// The resource to which the profile in ``place`` belongs; nil if the user named the configuration.
  var resourceOfPlace: String?
  /// ``place`` without the resource's profile, for a command that names the resource itself.
  var placeBesideResource: [String] = []
  var provider: [String] = []
  /// The resource that the user named.
  var resource: String?
  /// The options that name the resource of the user's profile; empty if the profile has no resource.
  var registration: [String] = []
  /// The command and its own options.
  var attempt: [String] = ["login"]

  init(_ request: CommandRequest) {
    place = request.place.words()
    var beside = request.place
    if beside.resource != nil { beside.profile = nil }
    (resourceOfPlace, placeBesideResource) = (beside.resource, beside.words())
    attempt = request.attempt
    resource = request.resource
    // The context is read when the hint is printed, because the profile may have been saved in the meantime.
    guard let place = try? Context(request.place) else { return }
    guard (try? place.hasConfiguration()) == false else {
      registration = place.registration
      provider = request.provider?.settingWords ?? []
      return
    }
    provider = request.provider?.words ?? []
    // `enroll doctor` checks the provider of the last attempt if the user names no other provider.
    guard let attempt = LastAttempt(about: place.configurationPath), let attempted = attempt.configuration
    else { return }
    let alone = request.provider?.resourceAlone
    guard provider.isEmpty || alone != nil && alone == attempted.resource else { return }
    provider = attempt.options.isEmpty ? ProviderOptions.words(attempted) : attempt.options
  }

  /// The options with which a command signs the same user in at the same provider, or checks such a sign-in.
  fileprivate var signIn: [String] {
    guard resourceOfPlace != nil else { return place + provider }
    let isNamed = provider.contains { $0 == "--resource" || $0.hasPrefix("--resource=") }
    return placeBesideResource + (isNamed ? [] : atResource) + provider
  }

  /// The options of the last sign-in, without those that need a browser on this machine.
  fileprivate var attemptByDevice: [String] {
    guard ["login", "register"].contains(attempt.first) else { return [] }
    var words: [String] = []
    var rest = attempt.dropFirst()
    while let word = rest.popFirst() {
      switch word {
      case "--device", "--no-browser": break
      case "--login-hint", "--prompt", "--connection": rest = rest.dropFirst()
      case _ where ["--login-hint=", "--prompt=", "--connection="].contains(where: { word.hasPrefix($0) }):
        break
      default: words.append(word)
      }
    }
    return words
  }

  /// The options of `login` for the user's resource.
  fileprivate var atResource: [String] {
    guard let resource else { return ["--resource", "URL"] }
    let isHere = (try? StrictURL(resource))?.kind == .loopbackHTTP
    return ArgumentWords.option("--resource", resource) + (isHere ? ["--allow-loopback-http"] : [])
  }

  init(place: [String] = [], provider: [String] = [], attempt: [String] = ["login"]) {
    self.place = place
    placeBesideResource = place
    self.provider = provider
    self.attempt = attempt
  }
}

/// Quotes a word for a POSIX shell.
enum ShellWord {
  private static let plain = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:@%+=,".utf8)

  static func quoted(_ word: String) -> String {
    guard word.isEmpty || !word.utf8.allSatisfy({ plain.contains($0) }) else { return word }
    return "'" + replacing(UInt8(ascii: "'"), by: "'\\''", in: word) + "'"
  }

  /// A command line of several commands.
  static func line(_ commands: [[String]]) -> String {
    commands.map { words in words.map { quoted($0) }.joined(separator: " ") }.joined(separator: " && ")
  }

  /// Replaces every such byte. A character can begin with this byte and have further bytes, such as those of an accent.
  static func replacing(_ byte: UInt8, by text: String, in word: String) -> String {
    String(decoding: word.utf8.flatMap { $0 == byte ? Array(text.utf8) : [$0] }, as: UTF8.self)
  }
}
