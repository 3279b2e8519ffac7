// Sends e-mail with libcurl (RFC 5321): implicit TLS, or STARTTLS that must succeed (RFC 3207); certificates
// are checked; a message takes at most a minute. The client sends without encryption only if the settings allow that,
// and the settings may allow it only for a mail server on this machine. Each message has its own connection. libcurl
// escapes lines that begin with a dot. Addresses were checked before: they are ASCII, so that no server needs SMTPUTF8.

import CCurl
import CPosix
public import EnrollRules
public import EnrollGateway
import EnrollHost
import EnrollPosix

/// A client of one mail server. Any thread may send.
public final class SMTPClient: MailTransport {
  private let settings: MailSettings
  /// The client's host name in EHLO (RFC 5321 §4.1.1.1).
  private let name: String
  private let library: CurlLibrary

  private static let connectMilliseconds = 20_000
  private static let totalMilliseconds = 60_000

  /// - Parameter name: the gateway's host name.
  /// - Throws: `.unsupported` if libcurl is not installed.
  public convenience init(_ settings: MailSettings, name: String) throws(EnrollError) {
    self.init(settings, name: name, library: try CurlLibrary.open())
  }

  private init(_ settings: MailSettings, name: String, library: CurlLibrary) {
    self.settings = settings
    self.name = name
    self.library = library
  }

  public func send(_ message: MailMessage) -> MailOutcome {
    PipeSignal.blocked { transmit(message) }
  }

  private func transmit(_ message: MailMessage) -> MailOutcome {
    let curl = library.functions
    do throws(EnrollError) {
      if let caFile = settings.caFile { try CertificateFile.check(caFile) }
    } catch {
      return .failed("caFile: \(error.message)")
    }
    guard let easy = enroll_curl_easy_init(curl) else { return .failed("libcurl had no memory") }
    let (source, replies) = (MessageSource(message.bytes), ServerReplies())
    var recipients: UnsafeMutablePointer<curl_slist>?
    defer {
      withExtendedLifetime((source, replies)) { enroll_curl_easy_cleanup(curl, easy) }
      enroll_curl_list_free(curl, recipients)
    }
    guard enroll_curl_list_append(curl, &recipients, "<\(message.recipient)>") == 1 else {
      return .failed("libcurl had no memory")
    }
    let refused = configure(easy, message, recipients, source, replies)
    guard refused == CURLE_OK else { return .failed("libcurl refused an option: \(words(refused))") }
    return outcome(of: perform(easy), easy, source, replies)
  }

  /// Sets the options of the transfer.
  /// - Returns: the first error that libcurl returned for an option; `CURLE_OK` if there was no error.
  private func configure(
    _ easy: UnsafeMutableRawPointer, _ message: MailMessage,
    _ recipients: UnsafeMutablePointer<curl_slist>?, _ source: MessageSource, _ replies: ServerReplies
  ) -> CURLcode {
    let curl = library.functions
    func text(_ option: CURLoption, _ value: String?) -> CURLcode {
      enroll_curl_set_text(curl, easy, option, value)
    }
    func long(_ option: CURLoption, _ value: Int) -> CURLcode {
      enroll_curl_set_long(curl, easy, option, value)
    }
    let protection = settings.isUnencrypted ? CURLUSESSL_NONE : CURLUSESSL_ALL
    var codes = [
      text(CURLOPT_URL, settings.server + "/" + name), text(CURLOPT_PROXY, ""),
      long(CURLOPT_NOSIGNAL, 1), long(CURLOPT_CONNECTTIMEOUT_MS, Self.connectMilliseconds),
      long(CURLOPT_TIMEOUT_MS, Self.totalMilliseconds), long(CURLOPT_USE_SSL, Int(protection.rawValue)),
      long(CURLOPT_SSL_VERIFYPEER, 1), long(CURLOPT_SSL_VERIFYHOST, 2),
      long(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      text(CURLOPT_MAIL_FROM, "<\(message.sender)>"),
      enroll_curl_set_list(curl, easy, CURLOPT_MAIL_RCPT, recipients), long(CURLOPT_UPLOAD, 1),
      enroll_curl_set_sender(curl, easy) { bytes, size, count, source in
        guard let bytes, let source else { return 0 }
        return Unmanaged<MessageSource>.fromOpaque(source).takeUnretainedValue()
          .read(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
      },
      enroll_curl_set_memory(
        curl, easy, CURLOPT_READDATA, UnsafeRawPointer(Unmanaged.passUnretained(source).toOpaque())),
      // libcurl passes each line of the server's replies to this function.
      enroll_curl_set_receiver(curl, easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, replies in
        guard let bytes, let replies else { return 0 }
        Unmanaged<ServerReplies>.fromOpaque(replies).takeUnretainedValue()
          .add(UnsafeRawBufferPointer(start: bytes, count: size * count))
        return size * count
      },
      enroll_curl_set_memory(
        curl, easy, CURLOPT_HEADERDATA, UnsafeRawPointer(Unmanaged.passUnretained(replies).toOpaque())),
      enroll_curl_set_memory(curl, easy, CURLOPT_ERRORBUFFER, replies.errorBuffer.baseAddress),
    ]
    if let caFile = settings.caFile {
      codes += [text(CURLOPT_CAINFO, caFile), text(CURLOPT_CAPATH, nil)]
    }
    if let user = settings.user, let password = settings.password {
      codes += [text(CURLOPT_USERNAME, user), text(CURLOPT_PASSWORD, password)]
    }
    _ = enroll_curl_forbid_key_log(curl, easy)
    return codes.first { $0 != CURLE_OK } ?? CURLE_OK
  }

  private func perform(_ easy: UnsafeMutableRawPointer) -> CURLcode {
    let curl = library.functions
    guard let multi = enroll_curl_multi_init(curl) else { return CURLE_OUT_OF_MEMORY }
    defer { enroll_curl_multi_cleanup(curl, multi) }
    guard enroll_curl_multi_add(curl, multi, easy) == CURLM_OK else { return CURLE_OUT_OF_MEMORY }
    defer { _ = enroll_curl_multi_remove(curl, multi, easy) }
    while true {
      var running: Int32 = 0
      var code = CURLE_OK
      guard enroll_curl_multi_perform(curl, multi, &running) == CURLM_OK else { return CURLE_SEND_ERROR }
      if enroll_curl_multi_outcome(curl, multi, &code) == 1 { return code }
      guard running > 0, enroll_curl_multi_wait(curl, multi, -1, 1_000) == CURLM_OK else {
        return CURLE_SEND_ERROR
      }
    }
  }

  private func outcome(
    of code: CURLcode, _ easy: UnsafeMutableRawPointer, _ source: MessageSource, _ replies: ServerReplies
  ) -> MailOutcome {
    guard code != CURLE_OK else { return .sent }
    var reply = 0
    _ = enroll_curl_get_long(library.functions, easy, CURLINFO_RESPONSE_CODE, &reply)
    let reason =
      replies.refusal(reply, wasSending: source.wasRead) ?? words(code)
      + (reply > 0 ? ", reply \(reply)" : "")
    // Only a refusal of the message or of its addresses is final. If the server refuses the gateway itself,
    // in its greeting or because of the password (RFC 4954 §6), the message stays in the outbox: the operator
    // has to change the settings, or wait.
    let isOfMessage =
      code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR
      || code == CURLE_WEIRD_SERVER_REPLY && source.wasRead
    let isOfGateway = [530, 534, 535, 538].contains(reply)
    return isOfMessage && (500...599).contains(reply) && !isOfGateway ? .refused(reason) : .failed(reason)
  }

  private func words(_ code: CURLcode) -> String {
    PrintableText.bounded(
      String(cString: enroll_curl_strerror(library.functions, code)), maximumBytes: 100)
  }
}

/// The message as libcurl reads it.
private final class MessageSource {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether a part of the message was sent, which means that the server has accepted the addresses.
  var wasRead: Bool { place > 0 }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(buffer.count, bytes.count - place)
    buffer.copyBytes(from: bytes[place..<(place + count)])
    place += count
    return count
  }
}

/// The server's replies, of which an operator reads the last refusal.
private final class ServerReplies {
  /// libcurl writes here which command failed: `MAIL failed: 550`.
  let errorBuffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  /// The text of the last reply that refused something, without the codes.
  private var text: [UInt8] = []
  private var isComplete = false
  /// How many replies are complete.
  private var count = 0

  private static let maximumBytes = 500

  init() { errorBuffer.initialize(repeating: 0) }

  deinit { errorBuffer.deallocate() }

  /// Adds a line. Every line begins with the code; in the last line of a reply, a space follows (RFC 5321 §4.2.1).
  func add(_ line: UnsafeRawBufferPointer) {
    guard line.count > 3 else { return }
    let isLast = line[3] == UInt8(ascii: " ")
    if isLast { count += 1 }
    guard line[0] == UInt8(ascii: "4") || line[0] == UInt8(ascii: "5") else { return }
    if isComplete { text = [] }
    isComplete = isLast
    let words = line.dropFirst(4).filter { $0 != 0x0D && $0 != 0x0A }
    text += (text.isEmpty ? [] : [0x20]) + words.prefix(max(0, Self.maximumBytes - text.count))
  }

  /// The refused part (the connection, the sender, the recipient or the message) and the server's reply; nil if the
  /// server refused none of them.
  ///
  /// The server's own words are shown only while the server does not know the recipient. Later they may contain the
  /// recipient's address or a part of the message, and neither may be in a log.
  /// - Parameter wasSending: whether a part of the message was sent.
  func refusal(_ code: Int, wasSending: Bool) -> String? {
    guard code >= 400, !text.isEmpty else { return nil }
    let failure = String(
      decoding: errorBuffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let words = PrintableText.bounded(String(decoding: text, as: UTF8.self), maximumBytes: Self.maximumBytes)
    if failure.hasPrefix("MAIL failed") { return "sender refused (mail.from): \(code) \(words)" }
    if count == 1 { return "connection refused: \(code) \(words)" }
    let status = words.split(separator: " ").first.map { String($0) } ?? ""
    let reply = "reply \(code)" + (Self.isStatus(status) ? " \(status)" : "")
    if failure.hasPrefix("RCPT failed") { return "recipient refused: \(reply)" }
    return wasSending || failure.hasPrefix("DATA failed") ? "message refused: \(reply)" : nil
  }

  /// Whether the text is an enhanced status code, such as `5.1.1` (RFC 3463 §2).
  private static func isStatus(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 3
      && parts.allSatisfy { (1...3).contains($0.count) && $0.allSatisfy { ASCII.isDigit($0) } }
  }
}
