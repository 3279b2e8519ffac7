// How the client authenticates at the provider's endpoints (RFC 6749 §2.3). A public client only sends its client id.
// Some providers give even native clients a secret. Every copy of the app has that secret, so it is sent, but protects
// nothing (RFC 8252 §8.5). A client with a key signs an assertion for each request (private_key_jwt).

package import EnrollCrypto

/// Adds the client's id and its authentication to requests.
public struct ClientAuthentication: Sendable {
  package enum Proof: Sendable {
    case none
    case secret(Secret, ClientSecretMethod)
    /// A signed assertion (RFC 7523 §2.2).
    case assertion(Secret)
  }

  private let clientID: ClientID
  private let proof: Proof

  package init(_ clientID: ClientID, _ proof: Proof) {
    self.clientID = clientID
    self.proof = proof
  }

  /// Authenticates a client that only sends its client id.
  public init(naming clientID: ClientID) { self.init(clientID, .none) }

  static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

  /// The request with the client's id and its authentication added to its form.
  public func adding(to request: HTTPRequest) -> HTTPRequest {
    var request = request
    var form = FormEncoding(.body)
    // A client uses no more than one method in a request (RFC 6749 §2.3).
    if !Self.namesClient(request.body), !isInHeader { form.add("client_id", clientID.text) }
    switch proof {
    case .none: break
    case .secret(let secret, .post): form.add("client_secret", secret)
    case .secret(let secret, .basic):
      request.headers.append(HTTPHeader("Authorization", "Basic " + credentials(secret)))
      request.secrets.append(secret)
    case .assertion(let jwt):
      form.add("client_assertion_type", Self.assertionType)
      form.add("client_assertion", jwt)
    }
    if !form.bytes.isEmpty { request.body += (request.body.isEmpty ? [] : [0x26]) + form.bytes }
    request.secrets += form.secrets
    return request
  }

  private var isInHeader: Bool { if case .secret(_, .basic) = proof { true } else { false } }

  /// Whether a form already has a `client_id`. A value in the form cannot contain a bare `&` or `=`, because values are
  /// encoded.
  private static func namesClient(_ form: [UInt8]) -> Bool {
    form.starts(with: "client_id=".utf8) || ASCII.contains(form, "&client_id=")
  }

  /// The client id and the secret, each encoded as in a form (RFC 6749 §2.3.1), and then joined and encoded as RFC 7617
  /// §2 says. A space is written as `%20`, which every form decoder understands; some decoders do not understand `+`
  /// (Authlib).
  private func credentials(_ secret: Secret) -> String {
    var pair: [UInt8] = []
    PercentEncoding.append(clientID.text.utf8, to: &pair)
    pair.append(UInt8(ascii: ":"))
    secret.withBytes { PercentEncoding.append($0, to: &pair) }
    return Base64.encode(pair)
  }
}

extension HTTPResponse {
  /// Whether the server refuses the client, not its request. Servers say so in many ways: `invalid_client`,
  /// `unauthorized_client` (Keycloak), a 401 without a body (Spring), or a 401 with `invalid_request` (Keycloak).
  package var refusesClient: Bool {
    guard status == 400 || status == 401 || status == 403, !isPage else { return false }
    guard let code = TokenEndpointError.oauthError(in: self) else { return status == 401 || isStatedEmpty }
    let codes = ["invalid_client", "unauthorized_client", "incorrect_client_credentials"]
    let with401 = ["invalid_request", "access_denied"]
    return (status == 401 ? codes + with401 : codes).contains { ASCII.equals($0, code) }
  }
}
