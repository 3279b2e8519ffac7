// The key file: made for its owner alone, written whole under another name and then renamed, so that no replica reads a half of it.

#if Gateway
  import CPosix
  import EnrollCore
  import EnrollCrypto
  import EnrollGateway
  import EnrollJSON
  import EnrollPosix

  enum KeyFile {
    /// Adds a key; the oldest go where there are more than the ring takes.
    /// - Returns: the new key's id.
    static func addKey(to path: String, at now: UnixTime) throws(EnrollError) -> String {
      var keys: [JSON] = []
      do throws(EnrollError) {
        let json = try UserDirectories.readConfiguration(at: path, called: path)
        _ = try KeyRing(json: json)
        keys = json["keys"]?.array ?? []
      } catch {
        guard error.code == .notFound else { throw error }
      }
      let id: String
      let secret: [UInt8]
      do throws(CryptoError) {
        id = Base64URL.encode(try SystemRandom.bytes(6)).utf8.map {
          $0 == 0x5F ? "-" : String(UnicodeScalar($0))
        }
        .joined()
        secret = try SystemRandom.secret(AESGCM.keyCount).revealBytes()
      } catch {
        throw EnrollError(.internal, error.message)
      }
      keys.append(
        .object([
          ("id", .string(id)), ("created", .integer(now.seconds)),
          ("secret", .string(Base64URL.encode(secret))),
        ]))
      try write(
        JSON.object([("keys", .array(Array(keys.suffix(KeyRing.limit))))]).serialized() + [0x0A], to: path)
      return id
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(EnrollError) {
      let part = path + ".new"
      _ = unlink(part)
      let fd = enroll_posix_open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard fd >= 0 else { throw failure(part) }
      OwnerAccess.complete(file: fd)
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { CPosix.write(fd, $0.baseAddress, $0.count) }
        guard count > 0 else {
          close(fd)
          throw failure(part)
        }
        rest = rest.dropFirst(count)
      }
      let isWritten = fsync(fd) == 0
      close(fd)
      guard isWritten, rename(part, path) == 0 else { throw failure(path) }
    }

    private static func failure(_ path: String) -> EnrollError {
      EnrollError(.storeIO, "\(path) cannot be written: \(SystemError.words(enroll_posix_errno()))")
    }
  }
#endif
