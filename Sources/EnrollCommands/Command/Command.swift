// One command: its name, what it takes and gives, how it may be run, and the run itself. The daemon and the generic C
// call have no code per command; they look here.

public import EnrollCore
public import EnrollJSON

/// A row of ``CommandTable``. A class because every request hands one on, from thread to thread, and its schemas are large.
public final class Command: Sendable {
  /// On what thread a command may run.
  public enum Kind: String, Sendable, CaseIterable {
    /// No network, no file: may run on a thread that must never wait.
    case memory
    /// Reads or writes the store, or asks the provider: needs a thread of its own for as long as its deadline allows.
    case blocking
    /// As ``blocking``, and waits for the user: given up when nobody is there any more.
    case waiting
    /// Calls back and holds no thread while it waits for a renewal that others wait for as well.
    case parked
  }

  public typealias Completion = @Sendable (Result<JSON, EnrollError>) -> Void

  enum Body: Sendable {
    case direct(@Sendable (Invocation) throws(EnrollError) -> JSON)
    /// Never waits; completes exactly once, before it returns or later.
    case parked(@Sendable (Invocation, @escaping Completion) -> Void)
  }

  public let name: String
  /// The command's name in languages whose methods have no noun before them, Swift and Python: the verb, unless it
  /// says too little.
  public let method: String
  /// One sentence.
  public let summary: String
  public let kind: Kind
  /// Whether it is about an open client.
  public let usesClient: Bool
  /// The version that brought it.
  public let since: String
  /// The parameters where clients have handles; the order of the members is that of positional parameters.
  public let input: Schema
  /// The parameters where the client is given otherwise: the same without the member `client`.
  let bareInput: Schema
  public let output: Schema
  /// The errors it may return, besides those of every command.
  public let errors: CommandErrors
  /// The specifications that say how, with their sections; nil for what is EnrollKit's own.
  public let source: String?
  let body: Body
  /// The answer that a parked command has in memory; nil if it has to begin work.
  let known: (@Sendable (Invocation) -> JSON?)?

  convenience init(
    _ name: String, method: String? = nil, _ kind: Kind, _ summary: String, client: Bool = true,
    takes parameters: [Schema.Property] = [], gives output: Schema = .nothing,
    fails errors: CommandErrors = CommandErrors(), source: String? = nil, since: String = "0.1.0",
    _ run: @escaping @Sendable (Invocation) throws(EnrollError) -> JSON
  ) {
    self.init(
      name, method, kind, summary, client, parameters, output, errors, source, since, .direct(run), nil)
  }

  /// A parked one.
  convenience init(
    parked name: String, method: String? = nil, _ summary: String, takes parameters: [Schema.Property],
    gives output: Schema, fails errors: CommandErrors, source: String? = nil, since: String = "0.1.0",
    known: (@Sendable (Invocation) -> JSON?)? = nil,
    _ start: @escaping @Sendable (Invocation, @escaping Completion) -> Void
  ) {
    self.init(
      name, method, .parked, summary, true, parameters, output, errors, source, since, .parked(start), known)
  }

  private init(
    _ name: String, _ method: String?, _ kind: Kind, _ summary: String, _ usesClient: Bool,
    _ parameters: [Schema.Property], _ output: Schema, _ errors: CommandErrors, _ source: String?,
    _ since: String,
    _ body: Body,
    _ known: (@Sendable (Invocation) -> JSON?)?
  ) {
    self.name = name
    self.method = method ?? Command.verb(of: name)
    self.kind = kind
    self.summary = summary
    self.usesClient = usesClient
    bareInput = .object(parameters)
    input = usesClient ? .object([.required("client", .clientHandle)] + parameters) : bareInput
    self.output = output
    self.errors = errors
    self.source = source
    self.since = since
    self.body = body
    self.known = known
  }

  private static func verb(of name: String) -> String {
    var verb = ""
    for scalar in name.unicodeScalars {
      if scalar == "." { verb = "" } else { verb.unicodeScalars.append(scalar) }
    }
    return verb
  }
}

extension Schema {
  static let clientHandle = Schema.text("The handle that client.open returned.", maximumBytes: 32)
}
