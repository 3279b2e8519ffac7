// Telling a server to forget a token (RFC 7009 §2.1), as a public client: its id goes into the body.

import EnrollCrypto

public enum RevocationRequest {
  /// - Parameter withBearer: sends the bearer too, for servers that want a public client to prove itself with
  ///   its access token (Glewlwyd). Others refuse a second kind of credentials, so this is for a second try, see
  ///   ``RevocationAnswer/wantsBearer``.
  public static func make(_ revocation: OutboxEntry.Revocation, endpoint: String, withBearer: Bool = false)
    -> HTTPRequest
  {
    var form = FormEncoding(.body)
    form.add("token", revocation.token)
    form.add("token_type_hint", revocation.hint)
    form.add("client_id", revocation.clientID.text)
    var headers: [HTTPHeader] = []
    if withBearer, let bearer = revocation.bearer {
      let scheme = revocation.dpopKey == nil ? "Bearer" : "DPoP"
      headers.append(HTTPHeader("Authorization", "\(scheme) \(bearer.reveal())"))
    }
    return HTTPRequest(form: form, to: endpoint, headers: headers)
  }
}
