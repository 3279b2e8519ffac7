// One log line for each request: the request and its result, without tokens, codes, passwords or states.

import EnrollJSON

/// An entry of the request log.
struct LogEntry: Sendable {
  var time: Int64
  var endpoint: Endpoint
  var method: String
  var status: Int
  /// The harmless parameters with their values, and the names of all other parameters.
  var parameters: String
  /// True if a fault affected the request.
  var struck: Bool

  /// The maximum number of entries that are kept.
  static let limit = 1000
  private static let harmless: Set<String> = [
    "client_id", "grant_type", "prompt", "response_type", "scope", "max_age", "acr_values", "action", "step",
    "code_challenge_method", "token_type_hint", "platform",
  ]

  init(_ endpoint: Endpoint, _ request: SandboxRequest, _ answer: SandboxAnswer, struck: Bool, at time: Int64)
  {
    self.time = time
    self.endpoint = endpoint
    self.struck = struck
    method = request.method
    status = answer.delivery == .nothing ? 0 : answer.status
    let form = request.method == "POST" ? request.form : Form(encoded: request.query)
    parameters = (form ?? Form()).pairs.map { name, value in
      Self.harmless.contains(name) ? "\(Self.plain(name))=\(Self.plain(value))" : Self.plain(name)
    }.joined(separator: " ")
  }

  /// The entry as a line: `12:30:01 POST /token 200 grant_type=refresh_token client_id=sample-app refresh_token`
  var line: String {
    let clock = Encoding.httpDate(time).split(separator: " ").dropLast().last ?? ""
    let outcome = status == 0 ? "dropped" : "\(status)"
    let words = ["\(clock)", method, endpoint.path, outcome, struck ? "(fault)" : "", parameters]
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }

  var json: JSON {
    .object([
      ("time", .integer(time)), ("endpoint", .string(endpoint.rawValue)), ("method", .string(method)),
      ("status", .integer(Int64(status))), ("parameters", .string(parameters)), ("fault", .bool(struck)),
    ])
  }

  private static func plain(_ text: String) -> String {
    String(text.unicodeScalars.prefix(120).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) })
  }
}

extension Provider {
  func write(_ entry: LogEntry) {
    if log.count >= LogEntry.limit { log.removeFirst(LogEntry.limit / 2) }
    log.append(entry)
    options.log?(entry.line)
  }
}
