// One command: its name, its parameters and result, the kind of thread it needs, and the code that runs it. The daemon
// and the generic C call have no code for a single command; they use this table.

public import EnrollRules
public import EnrollJSON

/// A row of ``CommandTable``. This type is a class, because every request passes a command from thread to thread, and a
/// command's schemas are large.
public final class Command: Sendable {
  /// The kind of thread on which a command may run.
  public enum Kind: String, Sendable, CaseIterable {
    /// The command uses neither the network nor files, so it may run on a thread that must never wait.
    case memory
    /// The command reads or writes the store, or asks the provider, so it needs a thread until its deadline.
    case blocking
    /// As ``blocking``, but the command also waits for the user, so it is cancelled when the caller has gone.
    case waiting
    /// The command reports its result through a callback. It holds no thread while it waits for a renewal, which other
    /// calls may share.
    case parked
  }

  public typealias Completion = @Sendable (Result<JSON, EnrollError>) -> Void

  enum Body: Sendable {
    case direct(@Sendable (Invocation) throws(EnrollError) -> JSON)
    /// The function never waits. It calls the completion exactly once, before it returns or later.
    case parked(@Sendable (Invocation, @escaping Completion) -> Void)
  }

  public let name: String
  /// The command's name in languages where it is a method of a client or session (Swift, Python): the verb, or a longer
  /// name if the verb alone is unclear.
  public let method: String
  /// One sentence.
  public let summary: String
  public let kind: Kind
  /// Whether the command needs an open client.
  public let usesClient: Bool
  /// The version in which the command first appeared.
  public let since: String
  /// The parameters for interfaces with client handles. An interface with positional parameters has them in the order
  /// of these members.
  public let input: Schema
  /// The parameters for interfaces that name the client in another way: the same as `input`, but without the member
  /// `client`.
  let bareInput: Schema
  public let output: Schema
  /// The errors that this command may return, in addition to those that every command may return.
  public let errors: CommandErrors
  /// The specifications of the command, with their sections; nil for a command that only EnrollKit has.
  public let source: String?
  let body: Body
  /// Returns the result of a parked command if the result is in memory already; nil if the command has to start work.
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

  /// A parked command.
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
