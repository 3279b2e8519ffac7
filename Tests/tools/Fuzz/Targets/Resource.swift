// Answers of a resource and its server before a sign-in: challenges, metadata, registrations.

import EnrollCrypto
import EnrollJSON

@testable import EnrollRules
@testable import EnrollSteps

extension Target {
  static let resource = [
    Target("challenge") { input in
      let headers = input.split(separator: 0x0A, maxSplits: 15).compactMap { line in
        text(Array(line)).map { HTTPHeader("WWW-Authenticate", $0) }
      }
      guard let found = challenges(headers) else { return }
      for challenge in found {
        require(isToken(challenge.scheme), "a scheme is a token")
        var names: Set<[UInt8]> = []
        for (name, value) in challenge.parameters {
          require(isToken(name), "a parameter's name is a token")
          require(names.insert(name.utf8.map { ASCII.lowercased($0) }).inserted, "no parameter twice")
          require(value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }, "a value is one line")
        }
      }
      if let joined = challenges([
        HTTPHeader("www-authenticate", headers.map { $0.value }.joined(separator: ", "))
      ]) {
        require(joined == found, "several headers are one list (RFC 9110 §5.3)")
      }
      let list = found.map { written($0) }.joined(separator: ",")
      // The quotation marks may make the text longer than the parser's limit.
      guard list.utf8.count <= 4096 else { return }
      require(
        challenges([HTTPHeader("WWW-Authenticate", list)]) == found, "what is written reads the same")
    },
    Target("resource-metadata") { input in
      let metadata: ProtectedResourceMetadata
      do throws(EnrollError) {
        metadata = try ProtectedResourceMetadata(
          ResourceDocument(input, "the sample"), resource: "https://api.example.com/mcp",
          allowsLoopbackHTTP: false)
      } catch {
        return require(error.code == .responseInvalid || error.code == .unsupported, "a typed refusal")
      }
      require(
        (1...ProtectedResourceMetadata.maximumServers).contains(metadata.servers.count), "somebody to ask")
      for server in metadata.servers {
        require((try? StrictURL(server.text))?.kind == .https, "https only (R19)")
      }
      require(metadata.name.map { isPrintable($0) && $0.utf8.count <= 131 } ?? true, "a name to be shown")
      require(
        metadata.scopes?.allSatisfy { isPrintable($0) && !$0.utf8.contains(0x20) } ?? true, "scopes are words"
      )
    },
    Target("registration") { input in
      let asked = ClientRegistration(
        redirectURI: "com.example.app:/cb", name: nil, method: "client_secret_basic", isDPoPBound: false)
      let client: RegisteredClient
      do throws(EnrollError) {
        client = try asked.client(
          processing: HTTPResponse(status: 201, body: input), of: "https://id.example.com/register",
          sent: Sample.moment.wall, allowsLoopbackHTTP: false)
      } catch {
        return require(error.code == .responseInvalid, "a typed refusal")
      }
      require(
        isPrintable(client.clientID.text) && (1...512).contains(client.clientID.text.utf8.count), "an id")
      require((client.clientSecret == nil) == (client.secretMethod == nil), "a secret has its use")
      require(client.clientSecret?.withBytes { !$0.isEmpty } ?? true, "a secret is one")
      let manager = client.management.map { try? StrictURL($0.uri) } ?? nil
      require((client.management == nil) == (manager == nil), "what manages a client is an address")
      require(
        manager.map { ASCII.equalsIgnoringCase($0.hostText ?? "", "id.example.com") } ?? true,
        "of the same origin")
    },
  ]

  private static func challenges(_ headers: [HTTPHeader]) -> [AuthenticationChallenge]? {
    do throws(EnrollError) {
      return try AuthenticationChallenge.all(in: HTTPResponse(status: 401, headers: headers))
    } catch {
      require(error.code == .responseInvalid, "a typed refusal")
      return nil
    }
  }

  /// The challenge with each value in quotation marks (RFC 9110 §5.6.4).
  private static func written(_ challenge: AuthenticationChallenge) -> String {
    let parameters = challenge.parameters.map { name, value in
      "\(name)=\""
        + String(
          decoding: value.utf8.flatMap { $0 == 0x22 || $0 == 0x5C ? [0x5C, $0] : [$0] }, as: UTF8.self)
        + "\""
    }
    return challenge.scheme + " " + parameters.joined(separator: ", ")
  }

  private static func isToken(_ text: String) -> Bool {
    !text.utf8.isEmpty
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
  }

  private static func isPrintable(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
