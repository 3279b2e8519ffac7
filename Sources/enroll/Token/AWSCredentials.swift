// Temporary credentials of AWS for the id_token: one unsigned request AssumeRoleWithWebIdentity to the Security Token
// Service (AWS STS API Reference). AWSResponse.swift reads the answer.

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

  /// - Parameter seconds: the time limit of the request.
  /// - Throws: as ``AWSResponse/document(now:)``; `.unreachable`, also after the time limit.
  func document(_ idToken: String, within seconds: Int64, _ session: CommandSession) throws(Failure) -> JSON {
    let document = try session.configuration()
    let transport = CurlTransport(
      .init(allowsLoopbackHTTP: document.allowsLoopbackHTTP, caFile: certificateFile(of: document)))
    var request = self.request(idToken)
    request.timeoutSeconds = seconds
    let (sent, isOfAWS) = (request, isOfAWS)
    do throws(Failure) {
      let response = try session.run(saying: "Asking AWS for credentials") {
        cancellation throws(EnrollError) in
        try transport.send(sent, cancellation: cancellation)
      }
      return try AWSResponse(response, to: sent, isOfAWS: isOfAWS).document(now: session.now)
    } catch {
      // Replaces the advice to run `enroll doctor`, because that command examines the provider, not this service.
      guard error.error != nil, error.ending == .unreachable else { throw error }
      var failure = error
      failure.advice = "Try again later."
      throw failure
    }
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
}
