// The options of `enroll mcp`.

import CPosix
import EnrollArguments
import EnrollCommands
import EnrollHost
import EnrollJSON
import EnrollMCP
import EnrollRules

struct MCP: EnrollCommand {
  private static let serverURL = Parameter.operand("url", help: "The URL of the MCP server.")
  private static let client = Parameter.option(
    "client-id", value: "id",
    help: "The client id that the authorization server assigned, if it registers none.")
  private static let secretFile = Parameter.option(
    "client-secret-file", value: "path",
    help: "With --client-id: the file with the client's secret; the profile keeps the secret.",
    completion: .files(extension: nil))
  private static let metadataDocument = Parameter.option(
    "client-metadata", value: "url",
    help: "The https URL of a client id metadata document, for servers that take one as a client id.")
  private static let scope = Parameter.repeated(
    "scope", value: "scope", help: "A scope to request besides those that the server asks for. Repeatable.")
  private static let resourceURI = Parameter.option(
    "resource", value: "uri", help: "The resource of the tokens, if it is not the URL of the server.")
  private static let noResource = Parameter.flag(
    "no-resource",
    help: "Send no parameter resource, for servers that refuse it, such as Microsoft Entra.")
  private static let authorizeParameter = Parameter.repeated(
    "authorize", value: "name=value",
    help: "A further parameter of the authorization request, such as audience=notes. Repeatable.")
  private static let prompt = Parameter.choice(
    "prompt", value: "word", help: "The OpenID Connect prompt of each sign-in; the profile keeps it.",
    of: LastingPrompt.self)
  private static let headerFile = Parameter.option(
    "header-file", value: "path",
    help: "A file with further headers for the server: a line Name: value for each.",
    completion: .files(extension: nil))
  private static let headerVariable = Parameter.repeated(
    "header-env", value: "name=variable",
    help: "A further header, with its value from an environment variable. Repeatable.")
  private static let device = Parameter.flag(
    "device", help: "Sign in with a code on another device, instead of opening a browser here (RFC 8628).")
  private static let noBrowser = Parameter.flag(
    "no-browser", help: "Open no browser: requests wait for a sign-in with enroll login.")
  private static let policy = Parameter.choice(
    "sign-in", value: "when",
    help:
      "If nobody is signed in: ask opens the browser once for all bridges, and asks there before the first sign-in at an authorization server; auto does not ask; never answers with the command to run.",
    default: BridgeOptions.SignInPolicy.ask)
  private static let wait = Parameter.option(
    "wait", value: "seconds",
    help:
      "How long a request waits for a sign-in or a token; with --check, also for an answer. Most hosts wait 60 seconds.",
    in: 1...3600, default: BridgeOptions.usualWaitSeconds)
  private static let loopbackHTTP = Parameter.flag(
    "allow-loopback-http", help: "Allow http to a server on this machine.")
  private static let transport = Parameter.choice(
    "transport", value: "name",
    help:
      "auto tries Streamable HTTP (http), and then the HTTP+SSE of servers before 2025 (sse).",
    default: BridgeOptions.Transport.auto)
  private static let hiddenTool = Parameter.repeated(
    "hide-tool", value: "pattern",
    help: "Tools that the host does not see and cannot call: a name, with * and ? as in a shell. Repeatable.")
  private static let longestMessage = Parameter.option(
    "max-message", value: "bytes", help: "The longest message, in both directions.",
    in: 1024...(1 << 30), default: BridgeOptions.usualLongestMessage)
  private static let checks = Parameter.flag(
    "check", help: "Connect, sign in if needed, print what the server offers, and end.")
  private static let host = Parameter.choice(
    "snippet", value: "host",
    help: "Print what to write into the configuration of a host, and end.", of: HostSnippet.self)

  static let command = Command(
    "mcp", "Connect a host of the Model Context Protocol to a remote server, signed in once for all.",
    discussion: """
      A bridge from standard input and output to Streamable HTTP, for hosts that start a program for each server: \
      editors, agents, desktop assistants. All bridges and commands of a user share one session: one browser tab, one \
      registration and one renewal, however many the host starts.

        enroll mcp --snippet claude-code https://notes.example/mcp

      A request that the server refuses without a token waits for the sign-in. Errors of the bridge have the codes \
      -32010 to -32015, and say in data.enrollkit what helps.
      """,
    arguments: [
      serverURL.argument, checks.argument, host.argument, policy.argument, wait.argument, device.argument,
      noBrowser.argument, client.argument, secretFile.argument, metadataDocument.argument, scope.argument,
      resourceURI.argument, noResource.argument, authorizeParameter.argument, prompt.argument,
      headerFile.argument, headerVariable.argument, transport.argument, hiddenTool.argument,
      longestMessage.argument,
      loopbackHTTP.argument,
    ], groups: [ContextOptions.group], action: run)

  let place: PlaceOptions
  private let options: BridgeOptions
  private let isCheck: Bool
  private let snippet: HostSnippet?
  private let words: [String]
  /// The options of this command line, except those in ``place``, as arguments for a host's configuration.
  private let hostWords: [String]
  private let headerPath: String?

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    let url = values[Self.serverURL]
    let allowsHTTP = values[Self.loopbackHTTP]
    let checked: StrictURL
    do throws(StrictURL.Refusal) { checked = try StrictURL(url) } catch {
      throw UsageError("The URL is not acceptable: \(error.text).")
    }
    guard checked.kind == .https || checked.kind == .loopbackHTTP, !checked.hadFragment else {
      throw UsageError("Expected an https URL without a fragment.")
    }
    guard checked.kind == .https || allowsHTTP else {
      throw UsageError("For a server on this machine add --allow-loopback-http.")
    }
    var options = BridgeOptions(
      url: url, resource: values[Self.resourceURI] ?? url,
      serverName: checked.shownOrigin.split(separator: "/").last.map { String($0) } ?? url)
    options.policy = values[Self.policy]
    options.opensBrowser = !values[Self.noBrowser]
    options.usesDevice = values[Self.device]
    options.waitSeconds = values[Self.wait]
    options.allowsLoopbackHTTP = allowsHTTP
    options.transport = values[Self.transport]
    options.hiddenTools = values[Self.hiddenTool].map { NamePattern($0) }
    options.longestMessage = Int(values[Self.longestMessage])
    options.headers = try BridgeHeaders.fromEnvironment(values[Self.headerVariable])
    let snippet = values[Self.host]
    let typedHeaderPath = values[Self.headerFile]
    headerPath =
      if let typedHeaderPath, snippet != nil {
        try LastingFile.path(typedHeaderPath, of: "--header-file")
      } else { typedHeaderPath }
    if options.usesDevice, !options.opensBrowser {
      throw UsageError("--device opens no browser: leave --no-browser out.")
    }
    guard values[Self.client] == nil || values[Self.metadataDocument] == nil else {
      throw UsageError("--client-metadata and --client-id exclude each other: each names the client.")
    }
    var own = ArgumentWords()
    own.add("--client-id", values[Self.client])
    if let path = values[Self.secretFile] {
      guard values[Self.client] != nil else { throw UsageError("--client-secret-file needs --client-id.") }
      own.add("--client-secret-file", try LastingFile.path(path, of: "--client-secret-file"))
    }
    if let document = values[Self.metadataDocument] {
      guard (try? StrictURL(document))?.kind == .https else {
        throw UsageError("--client-metadata: expected an https URL.")
      }
      own.add("--client-metadata", document)
    }
    own.add("--allow-loopback-http", allowsHTTP)
    for scope in values[Self.scope] { own.add("--scope", scope) }
    let sendsResource = !values[Self.noResource]
    guard sendsResource || values[Self.resourceURI] == nil else {
      throw UsageError("--no-resource and --resource exclude each other.")
    }
    let parameters = values[Self.authorizeParameter]
    try Self.check(parameters, sendsResource: sendsResource)
    // These options become keys of the profile that the sign-in saves.
    var login = own
    if !sendsResource { login.add("--set", "resourceParameter=none") }
    for parameter in parameters { login.add("--set", "authorizeParameters.\(parameter)") }
    if let prompt = values[Self.prompt] { login.add("--set", "prompt=\(prompt.rawValue)") }
    options.signInWords = login.list
    self.options = options
    isCheck = values[Self.checks]
    self.snippet = snippet
    words = own.list
    var host = ArgumentWords()
    host.add("--resource", values[Self.resourceURI])
    host.add("--no-resource", !sendsResource)
    for parameter in parameters { host.add("--authorize", parameter) }
    host.add("--prompt", values[Self.prompt]?.rawValue)
    if options.policy != .ask { host.add("--sign-in", options.policy.rawValue) }
    if options.waitSeconds != BridgeOptions.usualWaitSeconds { host.add("--wait", "\(options.waitSeconds)") }
    host.add("--device", options.usesDevice)
    host.add("--no-browser", !options.opensBrowser)
    host.add("--header-file", headerPath)
    for variable in values[Self.headerVariable] { host.add("--header-env", variable) }
    if options.transport != .auto { host.add("--transport", options.transport.rawValue) }
    for pattern in options.hiddenTools { host.add("--hide-tool", pattern.text) }
    if options.longestMessage != Int(BridgeOptions.usualLongestMessage) {
      host.add("--max-message", "\(options.longestMessage)")
    }
    hostWords = host.list
    if isCheck, snippet != nil { throw UsageError("--check and --snippet exclude each other.") }
  }

  /// Checks the parameters of the command line.
  /// - Throws: for a parameter that the sign-in would refuse.
  private static func check(_ parameters: [String], sendsResource: Bool) throws(UsageError) {
    var members = JSONObject()
    for parameter in parameters {
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw UsageError("--authorize: expected NAME=VALUE, such as access_type=offline.")
      }
      let name = String(parts[0])
      guard members[name] == nil else { throw UsageError("--authorize: \(Shown.text(name)) is given twice.") }
      members[name] = .string(String(parts[1]))
    }
    do throws(EnrollError) {
      _ = try Configuration(
        json: .object([
          ("issuer", .string("https://id.example")), ("clientId", .string("-")),
          ("redirectUri", .string(ProviderSetup.redirectURI)),
          ("resource", .string("https://resource.example")),
          ("resourceParameter", sendsResource ? nil : .string("none")),
          ("authorizeParameters", .object(members)),
        ]))
    } catch {
      throw UsageError("--authorize: \(error.message).")
    }
  }

  var resource: String? { options.resource }
  var attempt: [String] { ["mcp", options.url] + words }
  var request: CommandRequest {
    var place = place.at(options.resource, mustExist: false)
    place.namesProvider = true
    // No questions are asked, except with --check: standard input belongs to the host.
    return CommandRequest(place: place, mayAsk: isCheck, resource: options.resource, attempt: attempt)
  }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    if let snippet { return try show(snippet) }
    var options = options
    if let headerPath { options.headers += try BridgeHeaders.read(headerPath) }
    options.signInWords += try request.place.lastingWords()
    if try session.place.hasConfiguration() {
      options.certificateFile = try session.place.configuration().certificateFile
    }
    Output.dropsUnreadMessages = !isCheck
    let output = HostOutput(isCheck ? -1 : STDOUT_FILENO)
    let bridge = try Bridge(options, session, output: output)
    do throws(Failure) {
      try bridge.tokens.open()
    } catch {
      // The host gets this error as the answer to each request, because every request opens the store again.
      guard !isCheck, error.ending == .storeLocked || error.ending == .storeUnusable else { throw error }
      Terminal.errors.tell(error, session.said)
    }
    guard isCheck else {
      bridge.run()
      return session.waits.isInterrupted ? .interrupted : .done
    }
    return try BridgeCheck(bridge).perform()
  }

  private func show(_ snippet: HostSnippet) throws(Failure) -> CommandStatus {
    guard let program = enroll_posix_program().flatMap({ Self.path(of: String(cString: $0)) }) else {
      throw Failure(.failed, "the path of this program is unknown")
    }
    let host = (try? StrictURL(options.url))?.hostText ?? ""
    let line =
      try [program, "mcp", options.url] + words + hostWords + place.lastingWords()
    Terminal.errors.say("For \(snippet.place):")
    Output.line(
      snippet.text(name: HostSnippet.name(ofHost: host), words: line) { ShellWord.quoted($0) })
    return .done
  }

  /// The path of `program` after all symbolic links.
  private static func path(of program: String) -> String? {
    guard let resolved = realpath(program, nil) else { return nil }
    defer { free(resolved) }
    return String(validatingCString: resolved)
  }
}
