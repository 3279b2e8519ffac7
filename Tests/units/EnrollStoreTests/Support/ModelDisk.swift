// A disk in memory that computes the results of a power cut: any unsynced data may be there, be missing or be
// torn at a sector, in any combination.

@testable import EnrollPosix
@testable import EnrollStore
import CPosix
import EnrollSteps
import EnrollTesting

/// One file system with the folder `/`. Only one process and one thread at a time use it.
final class ModelDisk: FileSystem, @unchecked Sendable {
  // Unchecked: `guarded` holds all mutable state.

  static let sector = 512
  private static let root: UInt64 = 1

  /// The contents of the medium.
  struct Image: Hashable, Sendable {
    /// The contents of the files; a folder has no contents here.
    fileprivate var files: [UInt64: [UInt8]] = [:]
    fileprivate var folders: [UInt64: [String: UInt64]] = [root: [:]]

    /// The image without the inodes that have no name. So two images are equal if no program could see a
    /// difference.
    fileprivate var reachable: Image {
      var seen: Set<UInt64> = [ModelDisk.root]
      var rest = [ModelDisk.root]
      while let folder = rest.popLast() {
        for inode in folders[folder, default: [:]].values where seen.insert(inode).inserted {
          rest.append(inode)
        }
      }
      return Image(
        files: files.filter { seen.contains($0.key) }, folders: folders.filter { seen.contains($0.key) })
    }

    fileprivate mutating func apply(_ change: Change, _ extent: Extent = .whole) {
      switch change {
      case .write(let inode, let offset, let bytes):
        var content = files[inode, default: []]
        let part = extent.range(of: bytes.count, from: offset)
        guard !part.isEmpty else { return }
        let end = offset + part.upperBound
        if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
        content.replaceSubrange(offset + part.lowerBound..<end, with: bytes[part])
        files[inode] = content
      case .resize(let inode, let size):
        let content = files[inode, default: []]
        files[inode] =
          Array(content.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - content.count))
      case .name(let folder, let name, let inode): folders[folder, default: [:]][name] = inode
      case .rename(let folder, let old, let new):
        // The rename also applies if the creation of the old name never reached the medium.
        guard case let names = folders[folder, default: [:]], let inode = names[old.name] ?? old.inode else {
          return
        }
        folders[folder, default: [:]][old.name] = nil
        folders[folder, default: [:]][new] = inode
      }
    }
  }

  /// A change that waits for its sync.
  fileprivate enum Change: Hashable, Sendable {
    case write(UInt64, offset: Int, [UInt8])
    case resize(UInt64, Int)
    /// A name in a folder, and its inode; nil removes the name.
    case name(folder: UInt64, String, UInt64?)
    case rename(folder: UInt64, Old, to: String)

    struct Old: Hashable, Sendable {
      var name: String
      var inode: UInt64?
    }

    /// The inode whose sync makes the change durable.
    var subject: UInt64 {
      switch self {
      case .write(let inode, _, _), .resize(let inode, _): inode
      case .name(let folder, _, _), .rename(let folder, _, _): folder
      }
    }

    /// The ways in which the change can reach the medium, apart from not reaching it at all.
    var extents: [Extent] {
      guard case .write(_, let offset, let bytes) = self else { return [.whole] }
      let cuts = stride(from: sector - offset % sector, to: bytes.count, by: sector)
      return [.whole] + cuts.map { .before($0) } + cuts.map { .after($0) }
    }
  }

  /// The part of a write that reached the medium.
  fileprivate enum Extent: Hashable, Sendable {
    case whole
    case before(Int)
    case after(Int)

    func range(of count: Int, from offset: Int) -> Range<Int> {
      switch self {
      case .whole: 0..<count
      case .before(let cut): 0..<cut
      case .after(let cut): cut..<count
      }
    }
  }

  private struct State {
    var live: Image
    var medium: Image
    var waiting: [Change] = []
    var nextInode: UInt64
    var open: [Int32: (inode: UInt64, position: Int)] = [:]
    var nextDescriptor: Int32 = 3
    var locks: [UInt64: Int32] = [:]
    var modified: [UInt64: Int64] = [:]
    var ticks: Int64 = 1

    init(_ image: Image) {
      live = image
      medium = image
      nextInode = (image.files.keys.max() ?? 0) + (image.folders.keys.max() ?? 0) + 1
    }

    mutating func make(_ change: Change) {
      live.apply(change)
      waiting.append(change)
      ticks += 1
      modified[change.subject] = ticks
    }

    mutating func take(_ inode: UInt64) -> Int32 {
      defer { nextDescriptor += 1 }
      open[nextDescriptor] = (inode, 0)
      return nextDescriptor
    }
  }

  private let guarded: Guarded<State>
  private let after: @Sendable (ModelDisk) -> Void
  private let ignoresSyncs: Bool

  /// Makes a disk with the content of an image.
  /// - Parameters:
  ///   - ignoresSyncs: whether syncs of files have no effect. With such a disk, the tests must find faults.
  ///   - after: called after each operation that changes something.
  init(
    _ image: Image = Image(), ignoresSyncs: Bool = false,
    after: @escaping @Sendable (ModelDisk) -> Void = { _ in }
  ) {
    guarded = Guarded(State(image), by: Mutex())
    self.ignoresSyncs = ignoresSyncs
    self.after = after
  }

  /// The contents that a process would see if it started now.
  var live: Image { guarded.withLock { $0.live.reachable } }

  /// Every image that a power cut at this moment may leave.
  var afterPowerCut: Set<Image> {
    let (medium, waiting) = guarded.withLock { ($0.medium, $0.waiting) }
    var images: Set<Image> = [medium]
    for change in waiting {
      for image in images {
        for extent in change.extents {
          var next = image
          next.apply(change, extent)
          images.insert(next)
        }
      }
    }
    return Set(images.map(\.reachable))
  }

  private func change<Value>(
    _ body: (inout State) throws(FileFault) -> Value
  ) throws(FileFault) -> Value {
    let result = guarded.withLock { state in Result { () throws(FileFault) in try body(&state) } }
    after(self)
    return try result.get()
  }

  private func look<Value>(_ body: (inout State) throws(FileFault) -> Value) throws(FileFault) -> Value {
    try guarded.withLock { state in Result { () throws(FileFault) in try body(&state) } }.get()
  }

  private static func inode(
    _ state: State, _ descriptor: Int32, _ operation: FileOperation
  ) throws(FileFault) -> UInt64 {
    guard let file = state.open[descriptor] else { throw FileFault(operation, EBADF) }
    return file.inode
  }

  private static func name(_ path: String) -> String { String(path.dropFirst()) }

  // MARK: FileSystem

  var user: UInt32 { 0 }

  func makeFolder(_ path: String) throws(FileFault) {
    try change { (state) throws(FileFault) in
      let name = ModelDisk.name(path)
      guard state.live.folders[ModelDisk.root]?[name] == nil else { throw FileFault(.makeFolder, EEXIST) }
      let inode = state.nextInode
      state.nextInode += 1
      state.live.folders[inode] = [:]
      state.medium.folders[inode] = [:]
      state.make(.name(folder: ModelDisk.root, name, inode))
    }
  }

  func openFolder(_ path: String) throws(FileFault) -> Int32 {
    try look { (state) throws(FileFault) in
      guard path != "/" else { return state.take(ModelDisk.root) }
      guard let inode = state.live.folders[ModelDisk.root]?[ModelDisk.name(path)] else {
        throw FileFault(.openFolder, ENOENT)
      }
      return state.take(inode)
    }
  }

  func open(_ name: String, in folder: Int32, for access: FileAccess) throws(FileFault) -> Int32 {
    let makes = if case .making = access { true } else { false }
    return try change { (state) throws(FileFault) in
      let folder = try ModelDisk.inode(state, folder, .open)
      if let inode = state.live.folders[folder]?[name] {
        if makes { throw FileFault(.open, EEXIST) }
        return state.take(inode)
      }
      guard makes else { throw FileFault(.open, ENOENT) }
      return ModelDisk.make(name, in: folder, &state)
    }
  }

  private static func make(_ name: String, in folder: UInt64, _ state: inout State) -> Int32 {
    let inode = state.nextInode
    state.nextInode += 1
    state.live.files[inode] = []
    state.medium.files[inode] = []
    state.make(.name(folder: folder, name, inode))
    return state.take(inode)
  }

  func openLock(_ name: String, in folder: Int32) throws(FileFault) -> Int32 {
    try change { (state) throws(FileFault) in
      let folder = try ModelDisk.inode(state, folder, .openLock)
      if let inode = state.live.folders[folder]?[name] { return state.take(inode) }
      return ModelDisk.make(name, in: folder, &state)
    }
  }

  func close(_ descriptor: Int32) { guarded.withLock { $0.open[descriptor] = nil } }

  func closeLock(_ descriptor: Int32) {
    guarded.withLock { state in
      if let inode = state.open[descriptor]?.inode, state.locks[inode] == descriptor {
        state.locks[inode] = nil
      }
      state.open[descriptor] = nil
    }
  }

  func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
    try look { (state) throws(FileFault) in
      let inode = try ModelDisk.inode(state, descriptor, .read)
      let position = state.open[descriptor]?.position ?? 0
      let part = (state.live.files[inode] ?? []).dropFirst(position).prefix(buffer.count)
      buffer.copyBytes(from: part)
      state.open[descriptor]?.position += part.count
      return part.count
    }
  }

  func readBack(
    _ descriptor: Int32, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileFault) -> Int {
    try look { (state) throws(FileFault) in
      let inode = try ModelDisk.inode(state, descriptor, .readBack)
      let part = (state.live.files[inode] ?? []).dropFirst(Int(offset)).prefix(buffer.count)
      buffer.copyBytes(from: part)
      return part.count
    }
  }

  func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFault) -> Int {
    try change { (state) throws(FileFault) in
      let inode = try ModelDisk.inode(state, descriptor, .write)
      state.make(.write(inode, offset: state.open[descriptor]?.position ?? 0, Array(bytes)))
      state.open[descriptor]?.position += bytes.count
      return bytes.count
    }
  }

  func allocate(_ descriptor: Int32, _ count: Int64) throws(FileFault) {
    try change { (state) throws(FileFault) in
      let inode = try ModelDisk.inode(state, descriptor, .allocate)
      state.make(.resize(inode, max(Int(count), state.live.files[inode]?.count ?? 0)))
    }
  }

  func truncate(_ descriptor: Int32, to count: Int64) throws(FileFault) {
    try change { (state) throws(FileFault) in
      state.make(.resize(try ModelDisk.inode(state, descriptor, .truncate), Int(count)))
    }
  }

  func sync(_ descriptor: Int32) throws(FileFault) {
    try change { (state) throws(FileFault) in
      let inode = try ModelDisk.inode(state, descriptor, .sync)
      if ignoresSyncs, state.live.folders[inode] == nil { return }
      for change in state.waiting where change.subject == inode { state.medium.apply(change) }
      state.waiting.removeAll { $0.subject == inode }
    }
  }

  func rename(_ old: String, to new: String, in folder: Int32) throws(FileFault) {
    try rename(old, to: new, in: folder, .rename, replaces: true)
  }

  func renameNew(_ old: String, to new: String, in folder: Int32) throws(FileFault) {
    try rename(old, to: new, in: folder, .renameNew, replaces: false)
  }

  private func rename(
    _ old: String, to new: String, in folder: Int32, _ operation: FileOperation, replaces: Bool
  ) throws(FileFault) {
    try change { (state) throws(FileFault) in
      let folder = try ModelDisk.inode(state, folder, operation)
      guard let inode = state.live.folders[folder]?[old] else { throw FileFault(operation, ENOENT) }
      guard replaces || state.live.folders[folder]?[new] == nil else { throw FileFault(operation, EEXIST) }
      state.make(.rename(folder: folder, .init(name: old, inode: inode), to: new))
    }
  }

  func unlink(_ name: String, in folder: Int32) throws(FileFault) {
    try change { (state) throws(FileFault) in
      let folder = try ModelDisk.inode(state, folder, .unlink)
      guard state.live.folders[folder]?[name] != nil else { throw FileFault(.unlink, ENOENT) }
      state.make(.name(folder: folder, name, nil))
    }
  }

  private static func status(_ inode: UInt64, _ state: State) -> FileStatus {
    let isFolder = state.live.folders[inode] != nil
    let links = state.live.folders.values.reduce(0) { $0 + $1.values.count { $0 == inode } }
    return FileStatus(
      kind: isFolder ? .folder : .file, permissions: isFolder ? 0o700 : 0o600, owner: 0,
      links: UInt64(links), device: 1, inode: inode, size: Int64(state.live.files[inode]?.count ?? 0),
      modified: state.modified[inode] ?? 0)
  }

  func status(_ descriptor: Int32) throws(FileFault) -> FileStatus {
    try look { (state) throws(FileFault) in
      ModelDisk.status(try ModelDisk.inode(state, descriptor, .status), state)
    }
  }

  func status(_ name: String, in folder: Int32) throws(FileFault) -> FileStatus {
    try look { (state) throws(FileFault) in
      let folder = try ModelDisk.inode(state, folder, .statusByName)
      guard let inode = state.live.folders[folder]?[name] else { throw FileFault(.statusByName, ENOENT) }
      return ModelDisk.status(inode, state)
    }
  }

  func status(ofPath path: String) throws(FileFault) -> FileStatus {
    try look { (state) throws(FileFault) in
      guard let inode = state.live.folders[ModelDisk.root]?[ModelDisk.name(path)] else {
        throw FileFault(.statusByPath, ENOENT)
      }
      return ModelDisk.status(inode, state)
    }
  }

  func unlock(_ descriptor: Int32) throws(FileFault) {
    guarded.withLock { state in
      guard let inode = state.open[descriptor]?.inode, state.locks[inode] == descriptor else { return }
      state.locks[inode] = nil
    }
  }

  /// The number that identifies the kind of the file system: ext4.
  func kind(_ descriptor: Int32) throws(FileFault) -> UInt32 { 0xEF53 }

  func list(_ folder: Int32) throws(FileFault) -> [String] {
    try look { (state) throws(FileFault) in
      let folder = try ModelDisk.inode(state, folder, .list)
      return Array(state.live.folders[folder, default: [:]].keys)
    }
  }

  func lock(_ descriptor: Int32) throws(FileFault) -> Bool {
    try look { (state) throws(FileFault) in
      let inode = try ModelDisk.inode(state, descriptor, .lock)
      if let holder = state.locks[inode], holder != descriptor { return false }
      state.locks[inode] = descriptor
      return true
    }
  }
}
