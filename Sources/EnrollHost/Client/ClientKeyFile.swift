// The file with the client's private key. It is read for each assertion, so that a replaced key is used at once.

package import EnrollRules
import EnrollPosix

enum ClientKeyFile {
  /// Returns a function that reads the configured key; nil if no key is configured.
  static func reader(_ settings: ClientKeySettings?) -> ClientKey.Reader? {
    guard let settings else { return nil }
    return { () throws(EnrollError) in try read(settings) }
  }

  /// Reads and parses the key file.
  /// - Throws: `.configuration` with field `clientKeyFile`.
  private static func read(_ settings: ClientKeySettings) throws(EnrollError) -> ClientKey {
    let text: String
    do throws(EnrollError) {
      text = try UserDirectories.readClientSecret(
        at: settings.file, called: "client's private key", field: ClientKey.field)
    } catch {
      throw EnrollError(.configuration, error.message, field: ClientKey.field)
    }
    return try ClientKey(
      text, id: settings.id, algorithm: settings.algorithm, audience: settings.audience)
  }
}

extension Configuration {
  /// Checks the files that the configuration names, for a program that saves the configuration before it sends a
  /// request.
  /// - Throws: `.configuration` with field `caFile` or `clientKeyFile` if a file cannot be used.
  package func checkFiles() throws(EnrollError) {
    if let caFile { try CertificateFile.checkContents(caFile) }
    _ = try ClientKeyFile.reader(clientKey)?()
  }
}
