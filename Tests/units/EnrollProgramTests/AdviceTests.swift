// The advice of the program, and the command lines in it: the program accepts each command line, and each is
// for the profile and account of the user who gets the advice.

import EnrollArguments
import EnrollRules
import EnrollJSON
import Testing

@testable import enroll

@Suite("Advice")
struct AdviceTests {
  private static let place = ["--profile", "work", "--store", "/a b", "--account", "it's"]

  @Test("an error is known by its field, and not by its words")
  func fields() {
    let words = "the tokens wait for the user's confirmation; the key file is missing"
    #expect(!Failure.isQuestionOpen(EnrollError(.illegalState, words)))
    #expect(Failure.isQuestionOpen(EnrollError(.illegalState, "", field: EnrollError.confirmationField)))
    #expect(!Failure.isFileMissing(EnrollError(.storeLocked, words)))
    #expect(Failure.isFileMissing(EnrollError(.storeLocked, "", field: EnrollError.keyFileField)))
  }

  /// Splits a line as a POSIX shell does.
  private func words(_ line: String) -> [String] {
    var words: [String] = []
    var word: String?
    var isQuoted = false
    var isEscaped = false
    for character in line {
      switch character {
      case _ where isEscaped: (word, isEscaped) = ((word ?? "") + String(character), false)
      case "\\" where !isQuoted: isEscaped = true
      case "'": (word, isQuoted) = (word ?? "", !isQuoted)
      case " " where !isQuoted:
        if let whole = word { words.append(whole) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }

  /// The request of a command line; nil for help.
  private func request(_ line: [String]) throws -> CommandRequest? {
    guard case .command(let invocation) = Enroll.program.read(line) else { return nil }
    let values = invocation.values
    switch invocation.command.name {
    case "login": return try Login(values).request
    case "register": return try Register(values).request
    case "token": return try Token(values).request
    case "doctor": return try Doctor(values).request
    case "accounts": return try Accounts(values).request
    case "logout": return try Logout(values).request
    default: return nil
    }
  }

  private func said(_ line: [String], _ environment: Environment = Environment([:])) throws -> Said {
    let request = try #require(try request(line))
    return Said(
      place: request.place.words(environment), provider: request.provider?.words ?? [],
      attempt: request.attempt)
  }

  @Test("every command that advice may name is one that the program takes", arguments: HintedCommand.allCases)
  func commands(command: HintedCommand) throws {
    let provider = ["--issuer", "https://id.example", "--client-id", "a client", "--allow-loopback-http"]
    let login =
      ["login", "--yes", "--login-hint", "Al Ice", "--scope", "openid"] + Self.place + provider
    let line = words(command.line(try said(login)))
    #expect(line.first == "enroll")
    guard line.last != "--help" else {
      guard case .output = Enroll.program.read(Array(line.dropFirst())) else {
        Issue.record("\(line) is not help")
        return
      }
      return
    }
    let request = try #require(try request(Array(line.dropFirst())))
    #expect(request.place.words(Environment([:])) == Self.place)
    if case .sameAgain = command { #expect(line == ["enroll"] + login) }
    if [.login, .doctor, .loginByDevice].contains(command) { #expect(request.provider?.words == provider) }
  }

  @Test("every sign-in and every look may be said again as it was said")
  func again() throws {
    for line in [
      ["register", "--no-browser", "--again", "--prompt", "login", "--connection", "idp x"],
      ["login", "--device", "--yes", "--config", "/c.json", "--keys", "file"],
      ["token", "--account", "-"], ["doctor", "--issuer", "https://id.example"],
      ["token", "--account=-x"], ["login", "--login-hint=-x y", "--scope=-a", "--account=--json"],
    ] {
      #expect(words(HintedCommand.sameAgain.line(try said(line))) == ["enroll"] + line)
    }
  }

  @Test("a sign-in by another device keeps what the user asked for, without what a browser here needs")
  func byDevice() throws {
    let line = [
      "login", "--no-browser", "--yes", "--again", "--login-hint", "Al Ice", "--prompt", "login", "--scope",
      "a",
      "--scope", "b", "--config", "/c.json",
    ]
    #expect(
      words(HintedCommand.loginByDevice.line(try said(line)))
        == [
          "enroll", "login", "--device", "--yes", "--again", "--scope", "a", "--scope", "b", "--config",
          "/c.json",
        ])
    #expect(
      words(HintedCommand.loginByDevice.line(try said(["doctor", "--config", "/c.json"])))
        == ["enroll", "login", "--device", "--config", "/c.json"])
  }

  @Test("a hint about a resource names the resource, unless the user named a profile")
  func resource() throws {
    let url = "https://api.example/mcp"
    let line = ["login", "--account", "b", "--resource", url]
    let said = Said(try #require(try request(line)))
    let rest = " --account b --resource \(url)"
    for (command, words) in [
      (HintedCommand.login, "login"), (.loginAgain, "login --again"), (.sameAgain, "login"),
      (.token, "token"),
      (.loginAtResource, "login"), (.doctor, "doctor"), (.loginByDevice, "login --device"),
    ] {
      #expect(command.line(said) == "enroll " + words + rest)
    }
    let token = Said(try #require(try request(["token", "--account", "b", "--resource", url])))
    #expect(HintedCommand.login.line(token).hasPrefix("enroll login --account b"))
    let named = Said(try #require(try request(line + ["--profile", "work"])))
    #expect(HintedCommand.login.line(named) == "enroll login --profile work" + rest)
  }

  @Test("a value that begins with a dash follows its option's equals sign")
  func dashes() throws {
    let said = try said(["login", "--login-hint=-h", "--prompt=-p", "--scope=-a", "--account=-x"])
    #expect(words(HintedCommand.login.line(said)) == ["enroll", "login", "--account=-x"])
    #expect(
      words(HintedCommand.loginByDevice.line(said))
        == ["enroll", "login", "--device", "--scope=-a", "--account=-x"])
    var resource = Said()
    resource.resource = "-x"
    #expect(words(HintedCommand.loginAtResource.line(resource)) == ["enroll", "login", "--resource=-x"])
  }

  @Test("an answer with another iss, or without one, changes no issuer (RFC 9207)")
  func foreignAnswer() {
    func advice(_ field: String) -> String {
      Failure(EnrollError(.issuerMismatch, "x", field: field)).advice?.text(Said()) ?? ""
    }
    #expect(advice("issuer") == "Use the issuer exactly as the provider spells it.")
    #expect(
      advice("iss").hasPrefix("Run `enroll login` to begin again. The answer was not from the provider"))
    #expect(!advice("iss").contains("exactly"))
  }

  @Test("a place that the environment names is said, and the command line goes before it")
  func environment() throws {
    let environment = Environment(["ENROLL_PROFILE": "work", "ENROLL_ACCOUNT": "a", "ENROLL_STORE": "/s"])
    #expect(
      try said(["token", "--account", "b"], environment).place
        == ["--profile", "work", "--store", "/s", "--account", "b"])
    let file = Environment(["ENROLL_CONFIG": "/c", "ENROLL_PROFILE": "x"])
    #expect(try said(["token"], file).place == ["--config", "/c"])
    #expect(try said(["token", "--profile", "y"], file).place == ["--profile", "y"])
  }

  @Test(
    "a word is quoted where a shell would read it otherwise",
    arguments: ["", "a b", "it's", "$HOME", "a;b", "ä", "~"])
  func quoting(word: String) {
    let quoted = ShellWord.quoted(word)
    #expect(quoted != word)
    #expect(words(quoted) == [word])
    #expect(ShellWord.quoted("https://id.example/a_b-c") == "https://id.example/a_b-c")
  }

  @Test("the browser is asked about once, after its time, with what was sent")
  func redirectHintLines() {
    let begun = Instant(nanoseconds: 1_000)
    var wait = RedirectHint(clientID: "app\u{1B}", redirectURI: "http://127.0.0.1:9/cb", since: begun)
    #expect(wait.lines(at: begun.advanced(bySeconds: 29)) == [])
    let lines = wait.lines(at: begun.advanced(bySeconds: 30))
    #expect(lines.first?.hasPrefix("Does the browser show an error page?") == true)
    #expect(
      lines.dropFirst() == [
        "client id: app\u{FFFD}", "redirect: http://127.0.0.1:9/cb",
        "Some providers compare the port, too: register one, and name it by --redirect-uri.",
      ])
    #expect(wait.lines(at: begun.advanced(bySeconds: 31)) == [])

    var late = RedirectHint(
      clientID: "app", redirectURI: "http://127.0.0.1:9/cb", secondsToOpen: 60, again: "Stop, and run x.",
      since: begun)
    #expect(
      late.lines(at: begun.advanced(bySeconds: 30)).first
        == "The provider kept the request for 60 seconds. If the address was opened later: Stop, and run x.")

    var registered = RedirectHint(
      clientID: "app", redirectURI: "http://127.0.0.1:9/cb", registration: "Stop, and run x.", since: begun)
    let advice = registered.lines(at: begun.advanced(bySeconds: 30))
    #expect(advice.last == "Stop, and run x.")
    #expect(!advice.contains { $0.contains("client id") })
  }
}
