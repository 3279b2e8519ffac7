// Two checks before a code or a token is used. The first check compares the store's identity, to find out whether the
// store was replaced: that may be the only reason why a session is missing. The second check is whether the disk has
// space for a save.

public import EnrollRules

extension FileTokenStore {
  public func identity() throws(EnrollError) -> String {
    try withCurrentStore { (store) throws(EnrollError) in
      guard try store.folder.isAtPath(), let identity = try store.identity() else {
        throw StoreFolder.replaced
      }
      return identity
    }
  }
}

extension FileTokenStore {
  public func requireSpace(_ account: AccountName) throws(EnrollError) {
    try withCurrentStore { (store) throws(EnrollError) in
      try store.with(account) { (file) throws(EnrollError) in try file.requireSpace() }
    }
  }
}

extension OpenStore {
  /// The identity of the store; nil if the folder has no `keys` file. A copy that was restored into another folder
  /// counts as another store, because the copy may be older than the session.
  fileprivate func identity() throws(EnrollError) -> String? {
    guard let (file, _) = try KeysFile.read(folder, as: forms.keys) else { return nil }
    let status = try folder.attempt(nil) { () throws(FileFault) in try folder.system.status(folder.folder) }
    return "\(Base64URL.encode(file.storeID)) \(status.device) \(status.inode)"
  }
}
