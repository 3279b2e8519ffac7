// For each system, the file names of the shared libraries that EnrollKit opens when it first needs them, and advice for
// a library that cannot be opened. Nothing else may be in this file, because COpenSSL includes it for EnrollCrypto,
// which does not import CPosix.
#ifndef ENROLL_CPOSIX_LIBRARIES_H
#define ENROLL_CPOSIX_LIBRARIES_H
#if defined(__APPLE__)
// The loader also looks for a bare name in the working directory, where another user may have put a library. With @rpath it
// looks only in the folders that the program names, such as the frameworks of its bundle.
#define ENROLL_POSIX_LIBCRYPTO "@rpath/libcrypto.3.dylib"
#define ENROLL_POSIX_LIBCRYPTO_ADVICE "Put OpenSSL 3 into a folder of the program's run path, or build EnrollKit with OPENSSL=static"
#define ENROLL_POSIX_LIBCURL "/usr/lib/libcurl.4.dylib"
#define ENROLL_POSIX_LIBCURL_ELSE "@rpath/libcurl.4.dylib"
#define ENROLL_POSIX_LIBCURL_ADVICE "Put libcurl 7.66 or later into a folder of the program's run path, or give the client a transport"
#define ENROLL_POSIX_LIBSECRET "@rpath/libsecret-1.0.dylib"
#define ENROLL_POSIX_LIBSECRET_ADVICE "the Secret Service is for Linux desktops; choose other keys"
#elif defined(__ANDROID__)
// An app's package can contain only libraries whose names end with .so, and OpenSSL's own build for Android has the
// name libcrypto.so. Android itself has another library of that name, which is not OpenSSL, but hides it from apps.
#define ENROLL_POSIX_LIBCRYPTO "libcrypto.so"
#define ENROLL_POSIX_LIBCRYPTO_ADVICE "Put libcrypto.so of OpenSSL 3 into the app, or build EnrollKit with OPENSSL=static"
#define ENROLL_POSIX_LIBCURL "libcurl.so"
#define ENROLL_POSIX_LIBCURL_ELSE ENROLL_POSIX_LIBCURL
#define ENROLL_POSIX_LIBCURL_ADVICE "Give the client a transport, or put libcurl 7.66 or later into the app"
#define ENROLL_POSIX_LIBSECRET "libsecret-1.so"
#define ENROLL_POSIX_LIBSECRET_ADVICE "the Secret Service is for Linux desktops; choose other keys"
#else
// OpenSSL 3. Its functions keep their meaning until the major version changes.
#define ENROLL_POSIX_LIBCRYPTO "libcrypto.so.3"
#define ENROLL_POSIX_LIBCRYPTO_ADVICE "Install OpenSSL 3 (Debian package libssl3)"
// The build with OpenSSL is tried first, then the build with GnuTLS. Both export the same functions.
#define ENROLL_POSIX_LIBCURL "libcurl.so.4"
#define ENROLL_POSIX_LIBCURL_ELSE "libcurl-gnutls.so.4"
#define ENROLL_POSIX_LIBCURL_ADVICE "Install libcurl 7.66 or later (Debian package libcurl4)"
#define ENROLL_POSIX_LIBSECRET "libsecret-1.so.0"
#define ENROLL_POSIX_LIBSECRET_ADVICE "Debian package libsecret-1-0"
#endif
#endif
