// Telling a server to forget a token (RFC 7009 §2.1).

import EnrollCrypto

public enum RevocationRequest {
  /// - Parameter withBearer: sends the bearer too, for servers that want a public client to prove itself with
  ///   its access token (Glewlwyd). Others refuse a second kind of credentials, so this is for a second try, see
  ///   ``RevocationAnswer/wantsBearer``.
  public static func make(
    _ revocation: OutboxEntry.Revocation, endpoint: String, from client: ClientAuthentication,
    withBearer: Bool = false
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("token", revocation.token)
    form.add("token_type_hint", revocation.hint)
    var headers: [HTTPHeader] = []
    if withBearer, let bearer = revocation.bearer {
      let scheme = revocation.dpopKey == nil ? "Bearer" : "DPoP"
      headers.append(HTTPHeader("Authorization", "\(scheme) \(bearer.reveal())"))
    }
    return client.request(form, to: endpoint, headers: headers)
  }
}
