// Turns libcurl's result into an error: one row of the table of codes for each kind of failure. The text names scheme,
// host and the cause; libcurl's own words appear only for TLS, where they say which check failed and hold no more than
// names.

import CCurl
import EnrollCore

enum CurlFailure {
  /// CURLE_TOO_LARGE, which versions before 8.6 do not declare.
  private static let tooLarge = CURLcode(rawValue: 100)

  /// - Parameters:
  ///   - detail: libcurl's error buffer, filtered by ``words(_:)``.
  ///   - proxyStatus: what a proxy answered when it was asked for a tunnel; 0 where there is no proxy, or no answer.
  static func error(
    _ code: CURLcode, _ detail: String, _ summary: String, target: RequestTarget, reader: ResponseReader,
    proxyStatus: Int, caFile: String?
  ) -> EnrollError {
    if let failure = reader.failure { return failure }
    let place = target.display
    if proxyStatus >= 300 {
      let hint = proxyStatus == 407 ? "; put a user name and a password into the proxy's URL" : ""
      return EnrollError(
        .network, "the proxy refused a connection to \(place) with status \(proxyStatus)\(hint)")
    }
    switch code {
    case CurlFailure.tooLarge:
      return EnrollError(.responseInvalid, "\(place) sent a header line without end")
    case CURLE_OPERATION_TIMEDOUT:
      return EnrollError(.timeout, "\(place) did not answer in time")
    case CURLE_COULDNT_RESOLVE_HOST:
      return EnrollError(.network, "the name in \(place) could not be resolved")
    case CURLE_COULDNT_RESOLVE_PROXY:
      return EnrollError(.network, "the name of the proxy for \(place) could not be resolved")
    case CURLE_COULDNT_CONNECT:
      return EnrollError(.network, "no connection to \(place)")
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE:
      return EnrollError(
        .network, "the connection to \(place) was lost before the response was complete (\(summary))")
    case CURLE_FILESIZE_EXCEEDED:
      reader.refuseLength()
      return reader.failure ?? EnrollError(.responseInvalid, "\(place) sent too much")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
      return EnrollError(.responseInvalid, "\(place) did not answer as HTTP does (\(summary))")
    case CURLE_OUT_OF_MEMORY where reader.headLength > 0 && !reader.isHeadComplete:
      // How versions before 8.6 report a header line over their own limit of 100 KB; they report a want of memory for
      // an ordinary line in the same words.
      return EnrollError(
        .responseInvalid, "\(place) sent a header line without end, or there was no memory for one")
    case CURLE_OUT_OF_MEMORY:
      return EnrollError(.outOfMemory, "libcurl had no memory for a request to \(place)")
    case CURLE_SSL_CACERT_BADFILE:
      guard caFile == nil else {
        return EnrollError(.configuration, "the file could not be read as PEM certificates", field: "caFile")
      }
      return EnrollError(
        .tls, "the system's CA certificates could not be read (Debian package ca-certificates)")
    case CURLE_SSL_CONNECT_ERROR where isLostHandshake(detail):
      return EnrollError(.network, "the connection to \(place) was lost during the TLS handshake")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_USE_SSL_FAILED,
      CURLE_SSL_CRL_BADFILE, CURLE_SSL_CLIENTCERT, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
      CURLE_SSL_ENGINE_INITFAILED:
      return EnrollError(.tls, "\(place): \(detail.isEmpty ? summary : detail)")
    default:
      return EnrollError(.network, "the request to \(place) failed (\(summary))")
    }
  }

  /// OpenSSL and GnuTLS report a connection that broke inside the handshake as a failure of TLS; it is one of the
  /// network, and worth another try.
  private static func isLostHandshake(_ detail: String) -> Bool {
    let lower = detail.utf8.map { ASCII.lowercased($0) }
    for sign in [
      "ssl_error_syscall", "reset by peer", "unexpected eof", "broken pipe", "non-properly terminated",
    ] {
      let sign = Array(sign.utf8)
      guard lower.count >= sign.count else { continue }
      for start in 0...(lower.count - sign.count)
      where lower[start..<(start + sign.count)].elementsEqual(sign) {
        return true
      }
    }
    return false
  }

  /// Text of libcurl: printable ASCII, 200 bytes at most. The buffer behind it is CURL_ERROR_SIZE bytes and terminated.
  static func words(_ text: UnsafePointer<CChar>) -> String {
    PrintableText.bounded(String(cString: text), maximumBytes: 200)
  }
}
