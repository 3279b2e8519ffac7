// Makes the directory of the gateway's users from the settings.

import EnrollRules
import EnrollCrypto
import EnrollGateway
import EnrollGatewayPages
import EnrollHost
import EnrollPosix

extension Setup {
  /// The external directory; nil if users are stored in the gateway's own tables.
  func otherDirectory() -> (any Directory)? {
    guard let settings = settings.directory, let kind = settings.credentials else { return nil }
    let transport = CurlTransport(
      CurlTransport.Options(
        allowsLoopbackHTTP: settings.allowsLoopbackHTTP, caFile: settings.caFile,
        totalTimeout: .init(Self.providerMilliseconds)))
    let credentials = DirectoryCredentials(kind, lock: Mutex())
    switch settings.kind {
    case .own: return nil
    case .scim:
      return SCIMDirectory(
        base: settings.url, lookups: settings.lookup, transport: transport, credentials: credentials,
        clock: clock, makeLock: { Mutex() })
    case .okta:
      return OktaDirectory(
        base: settings.url, transport: transport, credentials: credentials, clock: clock,
        makeLock: { Mutex() })
    }
  }

  /// The element to insert into Okta's sign-in page; nil for another directory.
  func oktaScript() throws(EnrollError) -> String? {
    guard settings.directory?.kind == .okta else { return nil }
    let script = Asset.oktaSignIn
    do throws(CryptoError) {
      let hash = Base64.encode(try Digest.sha384.hash(script.bytes))
      return
        "<script src=\"\(settings.publicURL)\(script.path)\" integrity=\"sha384-\(hash)\" crossorigin=\"anonymous\"></script>"
    } catch {
      throw EnrollError(error, "SHA-384 failed")
    }
  }
}
