// This module is for programs that use Foundation: URLSession sends requests with a valid token, and a
// sign-in opens the desktop's browser. This is a separate product, so that EnrollKit does not need
// Foundation.

@_exported public import EnrollKit
