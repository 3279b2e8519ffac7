// Advice for the user. A command in it is always a case of ``HintedCommand``, so that it is printed with the options that
// name the user's place, and works as printed.

import EnrollCore
import EnrollJSON

/// Words that may name commands: `"Run \(.login) to try again."`
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

  /// As it is printed; commands stand between back quotes.
  func text(_ said: Said) -> String {
    parts.map { part in
      switch part {
      case .words(let words): words
      case .command(let command): "`\(command.line(said))`"
      }
    }.joined()
  }
}

/// The commands that advice names.
enum HintedCommand: CaseIterable {
  case login, loginAgain, loginAsSomebodyElse, loginByDevice
  /// The first sign-in, whose provider the user has to fill in.
  case firstLogin
  /// The first sign-in at a resource.
  case loginAtResource
  /// Another registration at the resource's provider.
  case registerAgain
  /// The command that the user has just tried.
  case sameAgain
  case token, doctor, accounts, help, loginHelp

  /// As it is typed, with what `said` adds to it.
  func line(_ said: Said) -> String {
    let words: [String] =
      switch self {
      case .login: ["login"] + said.place + said.provider
      case .loginAgain: ["login", "--again"] + said.place + said.provider
      case .loginAsSomebodyElse:
        ["login", "--again", "--prompt", "select_account"] + said.place + said.provider
      case .loginByDevice: ["login", "--device"] + said.attemptByDevice + said.place + said.provider
      case .firstLogin where said.resource != nil: ["login"] + said.atResource
      case .firstLogin: ["login"] + said.place + ["--issuer", "URL", "--client-id", "ID"]
      case .loginAtResource: ["login"] + said.place + said.atResource
      case .registerAgain:
        ["login", "--again", "--register-again"] + said.place
          + (said.registration.isEmpty ? said.atResource : said.registration)
      case .sameAgain: said.attempt + said.place + said.provider
      case .token: ["token"] + said.place
      case .doctor: ["doctor"] + said.place + said.provider
      case .accounts: ["accounts"] + said.place
      case .help: ["--help"]
      case .loginHelp: ["login", "--help"]
      }
    return (["enroll"] + words).map { ShellWord.quoted($0) }.joined(separator: " ")
  }
}

/// The user's options that a hint repeats: configuration, store, account and keys, and the provider if no profile has it.
struct Said {
  var place: [String] = []
  var provider: [String] = []
  /// The resource that the user named.
  var resource: String?
  /// The options that name the resource of the user's profile; empty if it has none.
  var registration: [String] = []
  /// The command and its own options.
  var attempt: [String] = ["login"]

  init(_ request: CommandRequest) {
    place = request.place.words()
    attempt = request.attempt
    resource = request.resource
    // Looked at when the hint is printed: the profile may have been saved meanwhile.
    guard let place = try? Context(request.place) else { return }
    guard (try? place.hasConfiguration()) == false else {
      registration = place.registration
      return
    }
    provider = request.provider?.words ?? []
    // The doctor looks at the last attempt's provider where no other is named.
    guard let attempt = LastAttempt(about: place.configurationPath), let attempted = attempt.configuration
    else { return }
    let alone = request.provider?.resourceAlone
    guard provider.isEmpty || alone != nil && alone == attempted["resource"]?.string else { return }
    provider = attempt.options.isEmpty ? ProviderOptions.words(attempted) : attempt.options
  }

  /// The options of the sign-in that the user has just tried, without those that a browser on this machine needs.
  fileprivate var attemptByDevice: [String] {
    guard ["login", "register"].contains(attempt.first) else { return [] }
    var words: [String] = []
    var rest = attempt.dropFirst()
    while let word = rest.popFirst() {
      switch word {
      case "--device", "--no-browser": break
      case "--login-hint", "--prompt", "--connection": rest = rest.dropFirst()
      default: words.append(word)
      }
    }
    return words
  }

  /// The options of `login` that name the user's resource.
  fileprivate var atResource: [String] {
    guard let resource else { return ["--resource", "URL"] }
    let isHere = (try? StrictURL(resource))?.kind == .loopbackHTTP
    return ["--resource", resource] + (isHere ? ["--allow-loopback-http"] : [])
  }

  init(place: [String] = [], provider: [String] = [], attempt: [String] = ["login"]) {
    self.place = place
    self.provider = provider
    self.attempt = attempt
  }
}

/// A word as a POSIX shell reads it back.
enum ShellWord {
  private static let plain = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:@%+=,".utf8)

  static func quoted(_ word: String) -> String {
    guard word.isEmpty || !word.utf8.allSatisfy({ plain.contains($0) }) else { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
