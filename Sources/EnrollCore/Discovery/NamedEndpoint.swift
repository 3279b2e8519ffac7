// An endpoint that the metadata names, and where nobody answers as the provider would: it may have moved since the metadata was
// fetched (R18). A sign-in has no second request; the next one asks for the metadata again although it is fresh. RenewalBackoff says
// the same of renewals.

extension Engine {
  /// Sends a request of a sign-in to an endpoint that the metadata names.
  func atNamedEndpoint(
    _ send: () throws(EnrollError) -> HTTPResponse
  ) throws(EnrollError) -> HTTPResponse {
    do throws(EnrollError) {
      let http = try send()
      if http.isOfNoEndpoint { provider.doubtMetadata() }
      return http
    } catch {
      if error.code != .cancelled { provider.doubtMetadata() }
      throw error
    }
  }
}

extension HTTPResponse {
  /// Whether it is no word of an endpoint of RFC 6749: neither a success nor an OAuth error.
  fileprivate var isOfNoEndpoint: Bool {
    isPage || !(200..<300).contains(status) && TokenEndpointError.oauthError(in: self) == nil
  }
}
