// Writes every page to .build/gateway-pages, with its resources, so that people can look at it:
//
//     ENROLL_WRITE_PAGES=1 swift test --filter PreviewTests
//     python3 -m http.server --directory .build/gateway-pages

import Foundation
import Testing

@testable import EnrollGatewayPages

@Suite struct PreviewTests {
  @Test(
    "every page is written for people to look at",
    .enabled(if: ProcessInfo.processInfo.environment["ENROLL_WRITE_PAGES"] != nil))
  func write() throws {
    let folder = URL(fileURLWithPath: ".build/gateway-pages")
    var languages = try Languages()
    try languages.add(json: CatalogueTests.marked())
    let sample = try SamplePages(languages: languages)
    try FileManager.default.createDirectory(
      at: folder.appending(path: "assets"), withIntermediateDirectories: true)
    for asset in sample.pages.assets {
      try Data(asset.bytes).write(to: folder.appending(path: String(asset.path.dropFirst())))
    }
    for language in languages.all {
      for page in try sample.all(in: language) {
        let file = folder.appending(path: "\(page.name).\(language.tag.text).html")
        try Data(page.content.bytes).write(to: file)
      }
    }
  }
}
