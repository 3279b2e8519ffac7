// The two requests of a registration with another app (flows.md §9): init, which returns a session and the other app's
// link; and complete, which returns tokens for the session and the artefact from the other app. Pure. Refused: a link
// that is not allowed, and responses without the configured fields.

package import EnrollCrypto
import EnrollJSON

package enum App2AppExchange {
  static let maximumIDBytes = 4096

  /// The settings of the key `app2app`.
  /// - Throws: `.configuration` without the key `app2app`.
  package static func settings(of configuration: Configuration) throws(EnrollError) -> App2AppSettings {
    guard let settings = configuration.app2app else {
      throw EnrollError(
        .configuration, "app2app: the configuration needs this key for transactions of kind app2app",
        field: "app2app")
    }
    return settings
  }

  /// The request `init`: a POST without data, as the gateway expects it.
  package static func initRequest(_ settings: App2AppSettings) -> HTTPRequest {
    HTTPRequest(
      .post, settings.initURI, headers: [HTTPHeader("Accept", "application/json")], freshConnection: true)
  }

  /// The response to init.
  package struct Session {
    package var id: Secret
    /// The link to open: one of ``App2AppSettings/allowedLinks`` is its prefix.
    package var link: String

    /// Reads the response to `init`.
    /// - Throws: `.oauth`, `.server` and related errors if the gateway refuses; `.responseInvalid` if a field is
    ///   missing or not acceptable, or the link is not allowed.
    package init(_ response: HTTPResponse, _ settings: App2AppSettings) throws(EnrollError) {
      if let error = TokenEndpointError.read(response) { throw error }
      let json = try TokenResponse.object(in: response)
      guard let id = json[settings.sessionIDField]?.string, isID(id.utf8) else {
        throw invalid(
          "\(settings.sessionIDField) must be 1 to \(maximumIDBytes) visible characters", response)
      }
      guard let link = json[settings.linkField]?.string else {
        throw invalid("\(settings.linkField) is missing or not a string", response)
      }
      let url: StrictURL
      do throws(StrictURL.Refusal) { url = try StrictURL(link) } catch {
        throw invalid("\(settings.linkField): \(error.text)", response)
      }
      guard !url.hadFragment, AllowedLink.permits(url, among: settings.allowedLinks) else {
        throw invalid("\(settings.linkField) matches none of app2app.allowedLinks", response)
      }
      self.id = Secret(id)
      self.link = link
    }
  }

  /// The request `complete`. It is sent at most once, on a new connection, because the artefact works only once (R15).
  package static func completeRequest(
    _ settings: App2AppSettings, sessionID: Secret, artefactID: Secret
  ) -> HTTPRequest {
    .post(
      .object([
        (settings.sessionIDField, .string(sessionID.reveal())),
        (settings.artefactIDField, .string(artefactID.reveal())),
      ]), holding: [sessionID, artefactID], to: settings.completeURI, freshConnection: true
    ).followedUp
  }

  /// The response to complete.
  package enum Completion {
    case tokens(TokenResponse)
    /// The response has only a refresh token, which is exchanged at once.
    case refreshToken(Secret)

    /// - Throws: as ``TokenResponse/init(processing:)``.
    package init(_ response: HTTPResponse) throws(EnrollError) {
      if let error = TokenEndpointError.read(response) { throw error }
      let json = try TokenResponse.object(in: response)
      if json["access_token"] == nil,
        let token = try TokenResponse.refreshToken(json["refresh_token"], response)
      {
        self = .refreshToken(token)
      } else {
        self = .tokens(try TokenResponse(processing: response))
      }
    }
  }

  /// Whether the bytes are a session or artefact id: bounded, and of visible characters.
  static func isID(_ bytes: some Collection<UInt8>) -> Bool {
    (1...maximumIDBytes).contains(bytes.count) && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  private static func invalid(_ text: String, _ response: HTTPResponse) -> EnrollError {
    EnrollError(.responseInvalid, "init: \(text)", httpStatus: response.status)
  }
}

extension Redirect {
  /// The artefact id that another app returns; nil if the link has no such id.
  /// - Throws: `.redirectMalformed` if the link has several ids, or an id that is not acceptable.
  package func artefactID(named field: String) throws(EnrollError) -> Secret? {
    guard var rest = url.query else { return nil }
    var found: Range<Int>?
    while let parameter = QueryParameter(takenFrom: &rest, of: url.bytes.span) {
      guard let name = PercentEncoding.decode(url.bytes[parameter.name], plusForSpace: true),
        name.elementsEqual(field.utf8)
      else { continue }
      guard found == nil else { throw EnrollError(.redirectMalformed, "\(field) appears twice") }
      found = parameter.value
    }
    guard let found else { return nil }
    guard let value = PercentEncoding.decode(url.bytes[found], plusForSpace: true),
      App2AppExchange.isID(value)
    else {
      throw EnrollError(
        .redirectMalformed,
        "\(field) must be 1 to \(App2AppExchange.maximumIDBytes) visible characters")
    }
    return Secret(value)
  }
}

/// The links of another app that may be opened: those that have an allowed link as their prefix, up to the end of a
/// whole host or path segment, byte by byte. `https://other.example/app` allows `…/app`, `…/app?x` and `…/app/x`, but
/// neither `…/apple` nor `https://other.example.evil/app`.
enum AllowedLink {
  /// Whether an allowed link is a prefix of the URL.
  /// - Parameter allowed: the prefixes; a prefix that is not a URL allows nothing.
  static func permits(_ url: StrictURL, among allowed: [String]) -> Bool {
    allowed.contains { text in (try? StrictURL(text)).map { begins(url, as: $0) } ?? false }
  }

  private static func begins(_ url: StrictURL, as beginning: StrictURL) -> Bool {
    let origin = beginning.bytes[..<beginning.path.lowerBound]
    guard url.bytes[..<url.path.lowerBound].elementsEqual(origin) else { return false }
    let path = url.bytes[url.path]
    let allowed = beginning.bytes[beginning.path]
    guard path.starts(with: allowed) else { return false }
    return path.count == allowed.count || allowed.isEmpty || allowed.last == 0x2F
      || path[path.startIndex + allowed.count] == 0x2F
  }
}
