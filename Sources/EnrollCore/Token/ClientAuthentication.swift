// How the client says who it is at the provider's endpoints (RFC 6749 §2.3). A public client names itself. Some providers give
// their native clients a secret all the same, which every copy of the app has: it is sent, and protects nothing (RFC 8252 §8.5).

import EnrollCrypto

/// How a client secret is sent, by the names of RFC 8414 §2.
public enum ClientSecretMethod: String, Sendable, CaseIterable {
  /// In the body (RFC 6749 §2.3.1).
  case post = "client_secret_post"
  /// In the header `Authorization` (RFC 6749 §2.3.1).
  case basic = "client_secret_basic"
}

/// Adds the client's id and its secret to a request.
public struct ClientAuthentication: Sendable {
  private let clientID: ClientID
  private let secret: Secret?
  private let method: ClientSecretMethod

  /// By the configured method; else by one that the provider announces, in the body rather than in the header; in the body
  /// where it announces neither.
  /// - Parameter metadata: nil where nothing is known of the provider.
  public init(_ configuration: Configuration, at metadata: ProviderMetadata?) {
    clientID = configuration.clientID
    secret = configuration.clientSecret
    let announced = metadata?.secretMethods ?? []
    method =
      configuration.tokenEndpointAuthMethod ?? ClientSecretMethod.allCases.first { announced.contains($0) }
      ?? .post
  }

  private init(_ other: ClientAuthentication, method: ClientSecretMethod) {
    (clientID, secret) = (other.clientID, other.secret)
    self.method = method
  }

  /// At an endpoint that announces methods of its own (RFC 8414 §2): one of those, as there may be no other (Canaille), and then
  /// the method of the token endpoint, as the announcement may be wrong (Glewlwyd).
  /// - Returns: the second is nil where there is one way only.
  func ways(
    at announced: [ClientSecretMethod]
  ) -> (first: ClientAuthentication, second: ClientAuthentication?) {
    guard hasSecret, let other = announced.first, !announced.contains(method) else { return (self, nil) }
    return (ClientAuthentication(self, method: other), self)
  }

  /// Whether the client has a secret.
  var hasSecret: Bool { secret != nil }

  /// A POST of the form, which says who sends it.
  /// - Parameter namesClient: whether the form has a `client_id` already.
  func request(
    _ form: FormEncoding, to url: String, headers: [HTTPHeader] = [], freshConnection: Bool = false,
    namesClient: Bool = false
  ) -> HTTPRequest {
    var (form, headers) = (form, headers)
    // A client uses one method in a request, and no other beside it (RFC 6749 §2.3).
    if !namesClient, secret == nil || method == .post { form.add("client_id", clientID.text) }
    if let secret {
      switch method {
      case .post: form.add("client_secret", secret)
      case .basic: headers.append(HTTPHeader("Authorization", "Basic " + credentials(secret)))
      }
    }
    var request = HTTPRequest(form: form, to: url, headers: headers, freshConnection: freshConnection)
    if let secret, method == .basic { request.secrets.append(secret) }
    return request
  }

  /// Both as a form encodes them (RFC 6749 §2.3.1), then as RFC 7617 §2 says. A space is `%20`, which every decoder of forms
  /// reads: some do not read `+` (Authlib).
  private func credentials(_ secret: Secret) -> String {
    var pair: [UInt8] = []
    PercentEncoding.append(clientID.text.utf8, to: &pair)
    pair.append(UInt8(ascii: ":"))
    secret.withBytes { PercentEncoding.append($0, to: &pair) }
    return Base64.encode(pair)
  }
}
