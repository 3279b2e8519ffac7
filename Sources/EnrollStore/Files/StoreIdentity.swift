// What is asked before something is spent: which store is at the path, since a session that is gone may have gone with its store;
// and whether it has room.

public import EnrollCore

extension FileTokenStore {
  public func identity() throws(EnrollError) -> String {
    try inPlace { (store) throws(EnrollError) in
      guard try store.folder.isInPlace(), let identity = try store.identity() else {
        throw StoreFolder.replaced
      }
      return identity
    }
  }
}

extension FileTokenStore {
  public func requireSpace(_ account: AccountName) throws(EnrollError) {
    try inPlace { (store) throws(EnrollError) in
      try store.with(account) { (file) throws(EnrollError) in try file.requireSpace() }
    }
  }
}

extension OpenStore {
  /// nil where the folder has been emptied. A copy that was restored is another store: it may be older than the session.
  fileprivate func identity() throws(EnrollError) -> String? {
    guard let (file, _) = try KeysFile.read(folder, as: forms.keys) else { return nil }
    let status = try folder.attempt(nil) { () throws(FileFault) in try folder.system.status(folder.folder) }
    return "\(Base64URL.encode(file.storeID)) \(status.device) \(status.inode)"
  }
}
