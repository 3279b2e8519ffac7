// For programs that use Foundation: URLSession sends requests with a valid token, and a sign-in opens the desktop's browser. This is a
// product of its own, so that EnrollKit needs no Foundation.

@_exported public import EnrollKit
