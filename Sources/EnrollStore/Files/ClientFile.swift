// The store's registered clients: a sealed file for each, named after the tag of what it was registered for. One lock for all of
// them is held across the registration, so that a crowd of processes registers one client.

public import EnrollCore

extension FileTokenStore {
  public func registeredClient(_ name: RegistrationName) throws(EnrollError) -> RegisteredClient? {
    try inPlace(unless: { false }) { (store) throws(EnrollError) in
      try store.open(try store.clientFile(name)) { (text) throws(EnrollError) in
        try RegisteredClient.decode(text, of: name)
      }.0
    }
  }

  @discardableResult
  public func updateRegisteredClient(
    _ name: RegistrationName, _ change: (inout RegisteredClient?) throws(EnrollError) -> Void
  ) throws(EnrollError) -> RegisteredClient? {
    var isUnderWay = false
    return try inPlace(unless: { isUnderWay }) { (store) throws(EnrollError) in
      let file = try store.clientFile(name)
      let held = try store.clientLock.take()
      defer { held.release() }
      let (before, generation) = try store.open(file) { (text) throws(EnrollError) in
        try RegisteredClient.decode(text, of: name)
      }
      var after = before
      isUnderWay = true
      try change(&after)
      guard after != before else { return after }
      if let after {
        _ = try file.save(RegisteredClient.encoded(after, of: name), after: generation)
      } else {
        try store.folder.discard(file.name)
        try store.folder.sync()
      }
      return after
    }
  }
}

extension OpenStore {
  fileprivate func clientFile(_ name: RegistrationName) throws(EnrollError) -> SealedFile {
    let tag = try keys().tag("client", name.text)
    return sealedFile(StoreNames.client(tag), tag)
  }
}
