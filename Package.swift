// swift-tools-version: 6.2
import PackageDescription

// ENROLL_EMBEDDED=1 compiles the programs and the C library that ship as Embedded Swift, which needs no Swift runtime
// (scripts/build). See CONTRIBUTING.md, "The code that ships".
let embedded = Context.environment["ENROLL_EMBEDDED"] == "1"
// ENROLL_HTTP=host leaves libcurl out: the program that uses the library sends the library's requests.
let hasCurl = Context.environment["ENROLL_HTTP"] != "host"

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]
/// The settings of modules that use only the Embedded subset of Swift, even in the debug build.
let portable: [SwiftSetting] =
  embedded
  ? strict + [.enableExperimentalFeature("Embedded"), .unsafeFlags(["-wmo"])]
  : strict + [.treatWarning("EmbeddedRestrictions", as: .error)]

func systemLibrary(_ name: String, pkgConfig: String? = nil, apt: [String] = []) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: apt.isEmpty ? nil : [.apt(apt)])
}

var products: [Product] = [
  .library(name: "EnrollC", type: .static, targets: ["EnrollC"]),
  .executable(name: "enrolld", targets: ["enrolld"]),
  .executable(name: "enroll", targets: ["enroll"]),
]

var targets: [Target] = [
  systemLibrary("COpenSSL", apt: ["libssl-dev"]),
  systemLibrary("CJansson", pkgConfig: "jansson", apt: ["libjansson-dev"]),
  systemLibrary("CCurl", apt: ["libcurl4-openssl-dev"]),
  systemLibrary("CPosix"),
  systemLibrary("CSecret"),
  .systemLibrary(name: "CEnroll", path: "include"),
  .target(name: "EnrollCrypto", dependencies: ["COpenSSL"], swiftSettings: portable),
  .target(name: "EnrollJSON", dependencies: ["CJansson"], swiftSettings: portable),
  .target(
    name: "EnrollRules", dependencies: ["EnrollCrypto", "EnrollJSON"], swiftSettings: portable),
  .target(
    name: "EnrollSteps", dependencies: ["EnrollRules", "EnrollCrypto", "EnrollJSON"], swiftSettings: portable),
  .target(
    name: "EnrollPosix",
    dependencies: ["EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON", "CPosix"],
    swiftSettings: portable),
  .target(
    name: "EnrollStore",
    dependencies: [
      "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON", "CPosix", "CSecret",
    ],
    swiftSettings: portable),
  .target(
    name: "EnrollHost",
    dependencies: [
      "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON", "CPosix",
    ]
      + (hasCurl ? ["CCurl"] : []),
    exclude: [hasCurl ? "Transport/NoCurl" : "Transport/Curl"], swiftSettings: portable),
  .target(
    name: "EnrollCommands",
    dependencies: [
      "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON",
    ],
    swiftSettings: portable),
  .target(
    name: "EnrollC",
    dependencies: [
      "EnrollCommands", "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules",
      "EnrollCrypto",
      "EnrollJSON", "CEnroll",
    ], exclude: ["exports.map"], swiftSettings: portable),
  .executableTarget(
    name: "enrolld",
    dependencies: [
      "EnrollCommands", "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules",
      "EnrollJSON", "CPosix",
    ],
    swiftSettings: portable),
  .target(
    name: "EnrollArguments", dependencies: ["EnrollRules", "EnrollJSON"],
    swiftSettings: portable),
  // The pure parts of the bridge for the Model Context Protocol.
  .target(name: "EnrollMCP", dependencies: ["EnrollRules", "EnrollJSON"], swiftSettings: portable),
  .executableTarget(
    name: "enroll",
    dependencies: [
      "EnrollArguments", "EnrollMCP", "EnrollCommands", "EnrollHost", "EnrollStore", "EnrollPosix",
      "EnrollSteps",
      "EnrollRules",
      "EnrollCrypto", "EnrollJSON", "CPosix",
    ],
    swiftSettings: portable),
]

// These targets do not ship. `make bench` sets ENROLL_BENCH.
if !embedded || Context.environment["ENROLL_BENCH"] == "1" {
  targets += [
    // Measures the cost of each step, compared with plain C (`make bench`).
    .target(
      name: "BenchPeers", path: "Tests/tools/Bench/Peers",
      linkerSettings: [.linkedLibrary("crypto"), .linkedLibrary("curl"), .linkedLibrary("jansson")]),
    .executableTarget(
      name: "bench-steps",
      dependencies: [
        "BenchPeers", "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules",
        "EnrollCrypto", "EnrollJSON",
        "CPosix",
      ],
      path: "Tests/tools/Bench/Steps", swiftSettings: portable),
  ]
}

if !embedded {
  products += [
    .library(name: "EnrollKit", targets: ["EnrollKit"]),
    .library(name: "EnrollFoundation", targets: ["EnrollFoundation"]),
    .library(name: "EnrollTesting", targets: ["EnrollTesting"]),
    .executable(name: "enroll-sandbox", targets: ["enroll-sandbox"]),
    .executable(name: "enroll-gateway", targets: ["enroll-gateway"]),
  ]
  targets += [
    .target(
      name: "EnrollKit",
      dependencies: [
        "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto",
        "EnrollJSON",
      ],
      swiftSettings: strict),
    .target(name: "EnrollFoundation", dependencies: ["EnrollKit"], swiftSettings: strict),
    .target(
      name: "EnrollSandbox",
      dependencies: [
        "EnrollHTTP", "EnrollRules", "EnrollCrypto", "EnrollJSON",
      ], swiftSettings: strict),
    .executableTarget(
      name: "enroll-sandbox",
      dependencies: ["EnrollSandbox", "EnrollArguments", "EnrollHost", "EnrollPosix", "EnrollCrypto"],
      swiftSettings: strict),
    // An event loop for the HTTP server. No library product depends on it.
    systemLibrary("CEvent", apt: ["libevent-dev"]),
    .target(
      name: "EnrollHTTP", dependencies: ["EnrollPosix", "EnrollSteps", "EnrollRules", "CEvent", "CPosix"],
      swiftSettings: strict),
    // The gateway. No library product depends on it, so a program that embeds the library does not build it.
    systemLibrary("CSQLite", apt: ["libsqlite3-dev"]),
    systemLibrary("CPostgreSQL"),
    .target(
      name: "EnrollGatewayPages", dependencies: ["EnrollJSON"],
      // The files are embedded in the program, so that no resource bundle has to be installed with it.
      resources: [
        .embedInCode("Texts/en.json"), .embedInCode("Texts/de.json"), .embedInCode("Assets/style.css"),
        .embedInCode("Assets/okta-sign-in-1.js"),
      ], swiftSettings: strict),
    .target(
      name: "EnrollGateway",
      dependencies: [
        "EnrollGatewayPages", "EnrollHTTP", "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON",
      ],
      swiftSettings: strict),
    .target(
      name: "EnrollGatewayStore",
      dependencies: [
        "EnrollGateway", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON", "CPosix",
        "CPostgreSQL",
        "CSQLite",
      ], swiftSettings: strict),
    .target(
      name: "EnrollGatewayMail",
      dependencies: [
        "EnrollGateway", "EnrollHost", "EnrollPosix", "EnrollRules", "CPosix",
        "CCurl",
      ], swiftSettings: strict),
    .executableTarget(
      name: "enroll-gateway",
      dependencies: [
        "EnrollGateway",
        "EnrollGatewayStore",
        "EnrollHTTP",
        "EnrollGatewayMail",
        "EnrollGatewayPages",
        "EnrollHost",
        "EnrollStore",
        "CPosix",
        "EnrollPosix",
        "EnrollSteps", "EnrollRules",
        "EnrollCrypto",
        "EnrollJSON",
        "EnrollArguments",
      ],
      swiftSettings: strict),
    .target(
      name: "EnrollTesting",
      dependencies: [
        "EnrollKit", "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto",
        "EnrollJSON",
      ],
      resources: [.copy("KnownProviders/Dialects.json")], swiftSettings: strict),
    .target(
      name: "TestVectors", dependencies: ["EnrollJSON", "Expectations"], path: "Tests/units/TestVectors",
      exclude: ["README.md", "make.py", "own"], swiftSettings: strict),
    .executableTarget(
      name: "sign-in-example", dependencies: ["EnrollKit"], path: "Examples/SignIn", swiftSettings: strict),
    .executableTarget(
      name: "swift-cli-example", dependencies: ["EnrollFoundation"], path: "Examples/swift-cli",
      exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
      name: "tutorial-notes", dependencies: ["EnrollFoundation"], path: "docs/tutorial/Notes",
      swiftSettings: strict),
    .executableTarget(
      name: "gateway-app-example", dependencies: ["EnrollKit"], path: "Examples/GatewayApp",
      swiftSettings: strict),
    .executableTarget(
      name: "swift-driver", dependencies: ["EnrollKit"], path: "Tests/faces/SwiftDriver",
      swiftSettings: strict),
    .target(name: "Expectations", path: "Tests/units/Expectations", swiftSettings: strict),
    .testTarget(
      name: "EnrollCryptoTests", dependencies: ["EnrollCrypto", "EnrollJSON", "Expectations", "TestVectors"],
      path: "Tests/units/EnrollCryptoTests",
      swiftSettings: strict),
    .testTarget(
      name: "EnrollJSONTests", dependencies: ["EnrollJSON", "Expectations", "TestVectors"],
      path: "Tests/units/EnrollJSONTests",
      swiftSettings: strict),
    .testTarget(
      name: "EnrollCoreTests",
      dependencies: [
        "EnrollSteps", "EnrollRules", "EnrollTesting", "EnrollCrypto", "EnrollJSON", "Expectations",
        "TestVectors",
      ], path: "Tests/units/EnrollCoreTests",
      exclude: ["Store/transactions.jsonl"], swiftSettings: strict),
    // Shared by tests: folders with stores, and processes that use these stores.
    .target(
      name: "StoreSupport",
      dependencies: ["EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollTesting"],
      path: "Tests/units/StoreSupport", swiftSettings: strict),
    .testTarget(
      name: "EnrollPosixTests",
      dependencies: ["EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollTesting", "Expectations"],
      path: "Tests/units/EnrollPosixTests", swiftSettings: strict),
    .testTarget(
      name: "EnrollStoreTests",
      dependencies: [
        "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollTesting", "EnrollCrypto",
        "EnrollJSON",
        "Expectations", "StoreSupport", "CPosix",
      ],
      path: "Tests/units/EnrollStoreTests", swiftSettings: strict),
    .testTarget(
      name: "EnrollHostTests",
      dependencies: [
        "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollTesting",
        "EnrollCrypto",
        "EnrollJSON", "Expectations", "StoreSupport",
      ],
      path: "Tests/units/EnrollHostTests", swiftSettings: strict),
    // Replaces functions of the C library that the store calls. It is only for tests, and no product contains it.
    .target(name: "SystemCalls", path: "Tests/units/SystemCalls"),
    // A program that the store's tests run, kill, fork, and start as another user.
    .executableTarget(
      name: "store-probe",
      dependencies: [
        "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto",
        "EnrollJSON",
        "EnrollTesting", "CPosix", "SystemCalls",
      ],
      path: "Tests/units/StoreProbe", swiftSettings: strict),
    .testTarget(
      name: "EnrollCommandsTests",
      dependencies: [
        "EnrollCommands", "EnrollHost", "EnrollStore", "EnrollPosix", "EnrollSteps", "EnrollRules",
        "EnrollTesting",
        "EnrollCrypto", "EnrollJSON", "Expectations",
      ], path: "Tests/units/EnrollCommandsTests",
      swiftSettings: strict),
    // Tests of the library with each known provider, through each of its interfaces.
    .testTarget(
      name: "KnownProviderTests",
      dependencies: [
        "EnrollC", "CEnroll", "EnrollCommands", "EnrollHost", "EnrollPosix", "EnrollSteps", "EnrollRules",
        "EnrollTesting",
        "EnrollCrypto", "EnrollJSON", "Expectations",
      ], path: "Tests/units/KnownProviderTests",
      exclude: ["answers.txt", "cells.txt"], swiftSettings: strict),
    .testTarget(
      name: "EnrollKitTests",
      dependencies: ["EnrollKit", "EnrollStore", "EnrollPosix", "EnrollTesting", "Expectations"],
      path: "Tests/units/EnrollKitTests",
      swiftSettings: strict),
    .testTarget(
      name: "EnrollFoundationTests",
      dependencies: [
        "EnrollFoundation", "EnrollTesting", "EnrollHTTP", "EnrollSteps", "EnrollRules",
      ], path: "Tests/units/EnrollFoundationTests", swiftSettings: strict),
    .testTarget(
      name: "SandboxTests",
      dependencies: ["EnrollSandbox", "EnrollCrypto", "EnrollJSON"], path: "Tests/units/SandboxTests",
      swiftSettings: strict),
    .testTarget(
      name: "EnrollProgramTests",
      dependencies: [
        "enroll", "EnrollPosix", "EnrollStore", "EnrollSteps", "EnrollRules", "EnrollCrypto",
        "EnrollJSON",
        "EnrollArguments",
      ], path: "Tests/units/EnrollProgramTests",
      swiftSettings: strict),
    .testTarget(
      name: "EnrollGatewayTests",
      dependencies: [
        "EnrollGateway", "EnrollGatewayPages", "EnrollGatewayStore", "EnrollTesting", "EnrollStore",
        "EnrollPosix",
        "EnrollSteps", "EnrollRules", "EnrollCrypto", "EnrollJSON", "Expectations",
      ], path: "Tests/units/EnrollGatewayTests", swiftSettings: strict),
    .testTarget(
      name: "EnrollGatewayStoreTests",
      dependencies: [
        "EnrollGatewayStore", "EnrollGateway", "EnrollPosix", "EnrollSteps", "EnrollRules", "EnrollCrypto",
        "Expectations",
      ], path: "Tests/units/EnrollGatewayStoreTests",
      exclude: ["postgres"], swiftSettings: strict),
    .testTarget(
      name: "EnrollArgumentsTests", dependencies: ["EnrollArguments"],
      path: "Tests/units/EnrollArgumentsTests", swiftSettings: strict),
    .testTarget(
      name: "EnrollMCPTests", dependencies: ["EnrollMCP", "EnrollRules", "EnrollJSON", "Expectations"],
      path: "Tests/units/EnrollMCPTests", swiftSettings: strict),
    .testTarget(
      name: "EnrollHTTPTests", dependencies: ["EnrollHTTP", "EnrollPosix", "EnrollSteps", "EnrollRules"],
      path: "Tests/units/EnrollHTTPTests",
      swiftSettings: strict),
    .testTarget(
      name: "StructureTests", dependencies: ["Expectations"], path: "Tests/units/StructureTests",
      swiftSettings: strict),
  ]
}

let package = Package(
  name: "EnrollKit",
  products: products,
  targets: targets,
  swiftLanguageModes: [.v6]
)
