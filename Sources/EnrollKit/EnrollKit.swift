// What Swift programs import: `import EnrollKit` brings every public type of the core with it.

@_exported public import EnrollCore
@_exported public import EnrollCrypto
@_exported public import EnrollJSON
