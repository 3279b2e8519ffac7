// Sends the requests of a sign-in to an endpoint from the metadata. If the server there does not respond like the
// provider, the endpoint may have moved since the metadata was fetched (R18). This sign-in does not send the request
// again, but the next sign-in fetches the metadata again, even if the stored metadata is still fresh. RenewalBackoff
// does the same for renewals.

import EnrollRules

extension ClientRequests {
  /// Sends a request of a sign-in to an endpoint from the metadata.
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
