// The store's copies of provider documents: a sealed file for each ``ProviderName`` (an issuer and trust settings),
// named after the tag of the ``ProviderName``. The copies only save requests, so nothing depends on them: an unreadable
// file counts as missing and is replaced, no call waits for the lock of such a file, and a failed save is ignored.

import CPosix
public import EnrollRules

extension FileTokenStore {
  public func providerDocuments(_ provider: ProviderName) -> ProviderDocuments? {
    do throws(EnrollError) {
      return try withCurrentStore { (store) throws(EnrollError) in
        // Without this check, a read would create a store.
        guard try store.folder.status(StoreKeyRing.fileName) != nil else { return nil }
        return try store.read(try store.providerFile(provider), provider)?.documents
      }
    } catch {
      return nil
    }
  }

  public func keepProviderDocuments(
    _ provider: ProviderName, _ change: (inout ProviderDocuments) -> Void
  ) {
    do throws(EnrollError) {
      try withCurrentStore { (store) throws(EnrollError) in
        let file = try store.providerFile(provider)
        let lock = try FileLock(StoreNames.lock, in: store.folder)
        defer { lock.close() }
        guard try lock.tryLock() else { return }
        let kept = try? store.read(file, provider)
        let before = kept?.documents ?? ProviderDocuments()
        var after = before
        change(&after)
        guard after != before else { return }
        _ = try file.save(after.encoded(of: provider), after: kept?.generation ?? 0)
      }
    } catch {
      // The error is ignored: without the copy, the next call asks the provider again.
    }
  }
}

extension OpenStore {
  fileprivate func read(
    _ file: SealedFile, _ provider: ProviderName
  ) throws(EnrollError) -> (documents: ProviderDocuments, generation: UInt64)? {
    guard let content = try file.read() else { return nil }
    let (text, generation) = try file.open(content)
    return (try ProviderDocuments(decoding: text, of: provider), generation)
  }

  fileprivate func providerFile(_ provider: ProviderName) throws(EnrollError) -> SealedFile {
    let tag = try keys().tag("provider", provider.text)
    return sealedFile(StoreNames.provider(tag), tag)
  }
}
