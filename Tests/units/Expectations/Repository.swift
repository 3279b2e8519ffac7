// The files of the repository that tests read.

public import Foundation

/// The checkout in which the tests were compiled.
public enum Repository {
  /// The folder that contains `Package.swift`.
  public static let top: URL = {
    var folder = URL(filePath: #filePath)
    while folder.path != "/",
      !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path)
    {
      folder.deleteLastPathComponent()
    }
    return folder
  }()
}
