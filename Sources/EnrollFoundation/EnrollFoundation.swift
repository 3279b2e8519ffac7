// What a program that uses Foundation imports beside EnrollKit: requests of URLSession with a valid token, and the desktop's
// browser. A product of its own, so that EnrollKit needs no Foundation.

@_exported public import EnrollKit
