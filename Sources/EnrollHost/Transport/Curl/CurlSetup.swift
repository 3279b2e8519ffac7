// The options of one transfer, set one after the other; the first error is kept. The three callbacks are here too:
// libcurl passes them a pointer to the ResponseReader.

import CCurl
import CPosix
import EnrollRules

struct CurlSetup {
  let curl: UnsafePointer<enroll_curl>
  let easy: UnsafeMutableRawPointer
  private(set) var outcome = CURLE_OK

  init(curl: UnsafePointer<enroll_curl>, easy: UnsafeMutableRawPointer) {
    self.curl = curl
    self.easy = easy
  }

  private mutating func note(_ code: CURLcode) {
    if outcome == CURLE_OK { outcome = code }
  }

  mutating func long(_ option: CURLoption, _ value: Int) {
    note(enroll_curl_set_long(curl, easy, option, value))
  }

  /// Sets an option that an older libcurl may not have.
  func longIfKnown(_ option: CURLoption, _ value: Int) {
    _ = enroll_curl_set_long(curl, easy, option, value)
  }

  mutating func text(_ option: CURLoption, _ value: String) {
    note(enroll_curl_set_text(curl, easy, option, value))
  }

  mutating func memory(_ option: CURLoption, _ value: UnsafeRawPointer?) {
    note(enroll_curl_set_memory(curl, easy, option, value))
  }

  mutating func offset(_ option: CURLoption, _ value: Int64) {
    note(enroll_curl_set_offset(curl, easy, option, value))
  }

  mutating func receiver(_ option: CURLoption, _ receiver: curl_write_callback) {
    note(enroll_curl_set_receiver(curl, easy, option, receiver))
  }

  mutating func sender(_ sender: curl_read_callback) {
    note(enroll_curl_set_sender(curl, easy, sender))
  }

  mutating func socketOpener(_ opener: curl_opensocket_callback) {
    note(enroll_curl_set_socket_opener(curl, easy, opener))
  }

  mutating func socketCloser(_ closer: curl_closesocket_callback) {
    note(enroll_curl_set_socket_closer(curl, easy, closer))
  }

  mutating func headers(_ list: UnsafeMutablePointer<curl_slist>?) {
    note(enroll_curl_set_list(curl, easy, CURLOPT_HTTPHEADER, list))
  }

  /// Allows only http and https, whatever the library was built with.
  mutating func protocols() {
    let code = enroll_curl_set_text(curl, easy, CURLOPT_PROTOCOLS_STR, "http,https")
    note(code == CURLE_UNKNOWN_OPTION ? enroll_curl_set_protocol_bits(curl, easy) : code)
  }

  /// Requires TLS 1.2 or later, with checks of the certificate chain and of the host name (R19). The certificates in
  /// `caFile` replace the system's certificate authorities.
  mutating func tls(caFile: String?) {
    long(CURLOPT_SSL_VERIFYPEER, 1)
    long(CURLOPT_SSL_VERIFYHOST, 2)
    long(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    guard let caFile else { return }
    text(CURLOPT_CAINFO, caFile)
    note(enroll_curl_set_text(curl, easy, CURLOPT_CAPATH, nil))
  }

  /// Keeps TLS secrets out of the file that the environment variable SSLKEYLOGFILE names (R19).
  /// - Returns: false if the variable is set and this libcurl has no option to ignore it.
  mutating func keepsSecrets() -> Bool {
    let code = enroll_curl_forbid_key_log(curl, easy)
    guard code != CURLE_NOT_BUILT_IN, code != CURLE_UNKNOWN_OPTION else {
      return enroll_curl_logs_keys(curl) == 0
    }
    note(code)
    return true
  }

  /// Sets the method and the body. `body` must stay valid until the handle is cleaned up.
  mutating func method(_ method: HTTPRequest.Method, _ body: UnsafeRawBufferPointer) {
    if method == .post || !body.isEmpty {
      long(CURLOPT_POST, 1)
      note(enroll_curl_set_offset(curl, easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count)))
      // With a null pointer libcurl would read the body from standard input.
      if let start = body.baseAddress, !body.isEmpty {
        memory(CURLOPT_POSTFIELDS, start)
      } else {
        text(CURLOPT_COPYPOSTFIELDS, "")
      }
      if method != .post { text(CURLOPT_CUSTOMREQUEST, method.rawValue) }
    } else {
      long(CURLOPT_HTTPGET, 1)
      if method != .get { text(CURLOPT_CUSTOMREQUEST, method.rawValue) }
    }
  }

  /// Makes libcurl end the transfer if the announced length exceeds the limit. The bytes that really arrive are counted
  /// by the reader.
  mutating func limit(_ bytes: Int) {
    note(enroll_curl_set_offset(curl, easy, CURLOPT_MAXFILESIZE_LARGE, Int64(max(bytes, 1))))
  }

  /// Sets the callbacks, which pass the response to `reader`. `reader` must stay valid until the handle is cleaned up.
  /// A request with plain http may open sockets only to loopback addresses.
  mutating func receivers(_ reader: ResponseReader, isPlain: Bool) {
    let opaque = UnsafeRawPointer(Unmanaged.passUnretained(reader).toOpaque())
    note(
      enroll_curl_set_receiver(curl, easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, reader in
        CurlSetup.deliver(bytes, size, count, to: reader) { $0.readHeader($1) }
      })
    memory(CURLOPT_HEADERDATA, opaque)
    note(
      enroll_curl_set_receiver(curl, easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, reader in
        CurlSetup.deliver(bytes, size, count, to: reader) { $0.readBody($1) }
      })
    memory(CURLOPT_WRITEDATA, opaque)
    note(
      enroll_curl_set_socket_opener(curl, easy) { reader, _, address in
        guard let address else { return -1 }
        if let reader, enroll_curl_is_loopback(address) == 0 {
          Unmanaged<ResponseReader>.fromOpaque(reader).takeUnretainedValue().refuseAddress()
          return -1
        }
        return enroll_posix_socket(
          address.pointee.family, address.pointee.socktype, address.pointee.protocol)
      })
    memory(CURLOPT_OPENSOCKETDATA, isPlain ? opaque : nil)
  }

  /// - Returns: the number of bytes that the reader accepted: all, or none to end the transfer.
  private static func deliver(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, to reader: UnsafeMutableRawPointer?,
    _ take: (ResponseReader, UnsafeRawBufferPointer) -> Bool
  ) -> Int {
    let (length, overflow) = size.multipliedReportingOverflow(by: count)
    guard let reader, !overflow else { return 0 }
    let taken = take(
      Unmanaged<ResponseReader>.fromOpaque(reader).takeUnretainedValue(),
      UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length))
    return taken ? length : 0
  }
}
