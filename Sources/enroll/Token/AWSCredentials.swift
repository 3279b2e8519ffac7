// Temporary credentials of AWS for the id_token: one unsigned request AssumeRoleWithWebIdentity to the Security Token
// Service (AWS STS API Reference), and the document that AWS programs read from `credential_process`. An answer
// without an expiry is refused.

import EnrollArguments
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollRules

struct AWSCredentials {
  /// The ARN of the role.
  let role: String
  /// The URL of the Security Token Service.
  let service: String
  /// Whether the service is AWS's own.
  private let isOfAWS: Bool

  /// - Parameter service: nil for AWS's own service, in the region of the environment.
  /// - Throws: for a region that is not a valid name, because the region becomes part of the host that gets the
  ///   id_token.
  init(role: String, service: String?, _ environment: Environment = .process) throws(UsageError) {
    self.role = role
    isOfAWS = service == nil
    self.service = if let service { service } else { try Self.service(in: environment) }
  }

  private static func service(in environment: Environment) throws(UsageError) -> String {
    let named = ["AWS_REGION", "AWS_DEFAULT_REGION"].first { environment[$0] != nil }
    guard let named, let region = environment[named] else { return "https://sts.amazonaws.com/" }
    let isName = region.utf8.allSatisfy {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-")
    }
    guard isName else {
      throw UsageError(
        "\(named) is \(Shown.text(region)); expected a region such as eu-west-1: a to z, digits and dashes.")
    }
    return "https://sts.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")/"
  }

  /// The certificate authorities for the service. The profile's authorities apply to the provider and to a service
  /// that the user named, not to AWS's own service.
  func certificateFile(of document: ConfigurationDocument) -> String? {
    isOfAWS ? nil : document.certificateFile
  }

  /// - Throws: `.refused` with the service's message if the service refuses; `.unreachable`.
  func document(_ idToken: String, _ session: CommandSession) throws(Failure) -> JSON {
    let document = try session.configuration()
    let transport = CurlTransport(
      .init(allowsLoopbackHTTP: document.allowsLoopbackHTTP, caFile: certificateFile(of: document)))
    let request = self.request(idToken)
    let response = try session.run(saying: "Asking AWS for credentials") { cancellation throws(EnrollError) in
      try transport.send(request, cancellation: cancellation)
    }
    return try Self.document(response.status, String(decoding: response.body, as: UTF8.self))
  }

  /// The request. Its secret does not appear in error messages.
  func request(_ idToken: String) -> HTTPRequest {
    var request = HTTPRequest(
      .post, service, headers: [HTTPHeader("Content-Type", FormEncoding.contentType)],
      body: FormEncoding.encode([
        ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
        ("RoleSessionName", "enroll"), ("WebIdentityToken", idToken),
      ]))
    request.secrets = [Secret(idToken)]
    return request
  }

  /// The document that AWS programs read, made from the answer of the service.
  static func document(_ status: Int, _ answer: String) throws(Failure) -> JSON {
    func text(_ name: String) -> String? { element(name, in: answer) }
    if let code = text("Code") {
      let words = text("Message").map { ": \(Shown.message($0))" } ?? ""
      let isRetried = status >= 500 || code == "IDPCommunicationError" || code == "Throttling"
      throw Failure(
        isRetried ? .unreachable : .refused, "AWS gave no credentials (\(Shown.text(code)))\(words)",
        advice: isRetried
          ? "Try again later." : "Check the role's trust policy: it names the provider and the client id.")
    }
    guard status == 200, let key = text("AccessKeyId"), let secret = text("SecretAccessKey"),
      let token = text("SessionToken"), let expiration = text("Expiration")
    else {
      throw Failure(
        status >= 500 ? .unreachable : .refused,
        "the Security Token Service sent no credentials (status \(status))", advice: "Check the URL of --sts."
      )
    }
    return .object([
      ("Version", .integer(1)), ("AccessKeyId", .string(key)), ("SecretAccessKey", .string(secret)),
      ("SessionToken", .string(token)), ("Expiration", .string(expiration)),
    ])
  }

  /// The text of the first element with this name (XML 1.0). The element has no attributes, and no elements inside
  /// it.
  private static func element(_ name: String, in answer: String) -> String? {
    let bytes = Array(answer.utf8)
    guard let begin = place(of: "<\(name)>", in: bytes, from: 0),
      let end = place(of: "</\(name)>", in: bytes, from: begin)
    else { return nil }
    let first = begin + name.utf8.count + 2
    let text = String(decoding: bytes[first..<end], as: UTF8.self)
    return unescaped(text)
  }

  private static func place(of text: String, in bytes: [UInt8], from begin: Int) -> Int? {
    let wanted = Array(text.utf8)
    guard bytes.count >= begin + wanted.count else { return nil }
    return (begin...(bytes.count - wanted.count)).first {
      bytes[$0..<($0 + wanted.count)].elementsEqual(wanted)
    }
  }

  private static let entities = [("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("amp", "&")]

  /// The text with the predefined entities of XML replaced.
  private static func unescaped(_ text: String) -> String {
    var parts = text.split(separator: "&", omittingEmptySubsequences: false).map { String($0) }[...]
    var result = parts.popFirst() ?? ""
    for part in parts {
      let name = String(part.prefix { $0 != ";" })
      guard name.count < part.count, let entity = entities.first(where: { $0.0 == name }) else {
        result += "&" + part
        continue
      }
      result += entity.1 + part.dropFirst(name.count + 1)
    }
    return result
  }
}
