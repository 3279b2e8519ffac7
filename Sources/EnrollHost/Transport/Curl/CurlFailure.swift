// Translates libcurl's result into an error: one row of the error table for each kind of failure. The error's text has
// the scheme, the host and the cause. It contains libcurl's own text only for TLS failures, because that text says
// which check failed and contains only names.

import CCurl
import CPosix
import EnrollRules
import EnrollSteps

enum CurlFailure {
  /// CURLE_TOO_LARGE, which versions before 8.6 do not declare.
  private static let tooLarge = CURLcode(rawValue: 100)

  /// - Parameters:
  ///   - detail: libcurl's error buffer, filtered by ``words(_:)``.
  ///   - proxyStatus: a proxy's answer to the request for a tunnel; 0 without a proxy or an answer.
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
      let hint = proxyVariable.map { "; \($0) is set, so check that proxy, too" } ?? ""
      return EnrollError(.timeout, "\(place) did not answer in time\(hint)")
    case CURLE_COULDNT_CONNECT where lacksDescriptors, CURLE_COULDNT_RESOLVE_HOST where lacksDescriptors:
      return EnrollError(
        .network,
        "no connection to \(place): too many files are open. Close some, or raise their limit (ulimit -n)")
    case CURLE_COULDNT_RESOLVE_HOST:
      return EnrollError(.network, "the name in \(place) could not be resolved")
    case CURLE_COULDNT_RESOLVE_PROXY:
      return EnrollError(
        .network,
        "the name of the proxy for \(place) could not be resolved: check \(proxyVariable ?? "the proxy")")
    case CURLE_COULDNT_CONNECT:
      guard let proxy = proxy(in: detail, target) else {
        return EnrollError(.network, "no connection to \(place)")
      }
      return EnrollError(
        .network,
        "no connection to the proxy \(proxy), through which \(place) is asked: start the proxy, or correct "
          + "\(proxyVariable ?? "its address in the environment")")
    case _ where says("certificate required", in: detail):
      return .clientCertificateWanted(" at \(place)")
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE:
      return EnrollError(
        .network, "the connection to \(place) was lost before the response was complete (\(summary))")
    case CURLE_FILESIZE_EXCEEDED:
      reader.refuseLength()
      return reader.failure ?? EnrollError(.responseInvalid, "\(place) sent too much")
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
      return EnrollError(.responseInvalid, "\(place) did not answer as HTTP does (\(summary))")
    case CURLE_OUT_OF_MEMORY where reader.headLength > 0 && !reader.isHeadComplete:
      // Before version 8.6, libcurl reports two failures with this code: a header line that is longer than 100 KB, and
      // a lack of memory for an ordinary line.
      return EnrollError(
        .responseInvalid, "\(place) sent a header line without end, or there was no memory for one")
    case CURLE_OUT_OF_MEMORY:
      return EnrollError(.outOfMemory, "libcurl had no memory for a request to \(place)")
    case CURLE_SSL_CACERT_BADFILE:
      guard caFile == nil else {
        return EnrollError(
          .configuration,
          "the file that caFile, or else SSL_CERT_FILE, names could not be read as PEM certificates",
          field: "caFile")
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
      let (advice, field) = Self.advice(detail)
      return EnrollError(.tls, "\(place): \(detail.isEmpty ? summary : detail)\(advice)", field: field)
    default:
      return EnrollError(.network, "the request to \(place) failed (\(summary))")
    }
  }

  /// Advice for a TLS failure whose text shows a known cause, and the configuration key with which the user can remove
  /// the cause. The text is empty for other failures.
  private static func advice(_ detail: String) -> (text: String, field: String?) {
    let rows: [([StaticString], String, String?)] = [
      (
        [
          "wrong version number", "packet length", "unexpected tls packet", "illegal version", "http request",
        ],
        "the server does not speak TLS at this port, perhaps http: use the address of its port for https", nil
      ),
      (
        ["local issuer certificate", "self-signed", "self signed", "issuer is unknown", "signer not found"],
        "if the server's certificate comes from a private authority, name the file with that authority's certificate: caFile in "
          + "the configuration, or the environment variable SSL_CERT_FILE",
        EnrollError.certificateFileField
      ),
      (
        ["handshake failure"],
        "the server may want a client certificate, or have no TLS 1.2 or 1.3", nil
      ),
    ]
    guard let row = rows.first(where: { row in row.0.contains { says($0, in: detail) } }) else {
      return ("", nil)
    }
    return (". " + row.1, row.2)
  }

  /// The environment variable that names the proxy for https; nil if none is set.
  private static var proxyVariable: String? {
    ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].first { name in
      getenv(name).map { $0.pointee != 0 } ?? false
    }
  }

  /// The proxy that libcurl could not reach, from the text `Failed to connect to HOST port PORT` and, in later
  /// versions, `via HOST`; nil if the request used no proxy.
  private static func proxy(in detail: String, _ target: RequestTarget) -> String? {
    let words = detail.utf8.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
    guard !target.isLoopback, words.count > 6, words[5] == "port" else { return nil }
    if words.count > 8, words[7] == "via" { return words[8] }
    let own = "https://\(words[4])"
    let isOwn = ASCII.equals(target.display, own) || target.display.utf8.starts(with: "\(own):".utf8)
    return isOwn ? nil : "\(words[4]):\(words[6])"
  }

  private static func says(_ words: StaticString, in detail: String) -> Bool {
    ASCII.contains(String(decoding: detail.utf8.map { ASCII.lowercased($0) }, as: UTF8.self), words)
  }

  /// Whether a connection broke during the TLS handshake. OpenSSL and GnuTLS report that as a TLS failure, but it is a
  /// network failure, and another try may succeed.
  private static func isLostHandshake(_ detail: String) -> Bool {
    let signs: [StaticString] = [
      "ssl_error_syscall", "reset by peer", "unexpected eof", "broken pipe", "non-properly terminated",
    ]
    return signs.contains { says($0, in: detail) }
  }

  /// Whether no further descriptor can be opened.
  private static var lacksDescriptors: Bool {
    let descriptor = enroll_posix_open("/dev/null", O_RDONLY | O_CLOEXEC, 0)
    guard descriptor < 0 else {
      close(descriptor)
      return false
    }
    let number = enroll_posix_errno()
    return number == EMFILE || number == ENFILE
  }

  /// Filters a text of libcurl: only printable ASCII, at most 200 bytes. The text is in a buffer of CURL_ERROR_SIZE
  /// bytes with a terminator.
  static func words(_ text: UnsafePointer<CChar>) -> String {
    PrintableText.bounded(String(cString: text), maximumBytes: 200)
  }
}
