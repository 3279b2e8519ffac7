/// A key that was made for these tests, and is used nowhere else.
enum ClientKeyVector {
  /// The members of the private JWK, except `kty`.
  static let rsa: [(String, String)] = [
    (
      "n",
      "w9MwOiXtE-gT8oNVF99_o8d-HTCYeNi5yJ9mI8wsnHMKHjjUPa3JMMBqzRBNRs_2PslZHkmG6aPyCFkzKBVEt-"
        + "F6Bplt9GRofpohhIjxi4QkFJZ0I0P-"
        + "KzIvvffq5LtJEhP9tAeSYAu2y2WGGg4PqUoDZ53iuSTIuC4OgtvLcPi2MrudE5n9X1ulj8akUYqB6luM3i9QJnQP"
        + "TcrT6OAM6NMygs5EC7Zu78GpLpipPDj1o1S40Q_GQjCRW51-" + "2iv8741j5713O1qsHTGRTBOt2rBFmBOugXKZRJMX-"
        + "6lOpZ1K1sohQfkDzZCMF8RrFMkHZnT5a6yCVeWYerjVvfCIBQ"
    ),
    ("e", "AQAB"),
    (
      "d",
      "NcsG3YJbnPNMv3rKXlN8Ca6ce0JFMDVA29bFxSGqQ5PqfKDZ1NOvh9_jts86mzA3kcnX3FUQZZAuxZJTVjh5dxXO"
        + "Yo-1P8RxXA3VFUZVLCExlCI8Zw-fe5g-"
        + "uy2mbgzwprGtKM5HrHCrVzZdXzzrmnKFeupJRNjQ9p9YRyQ_v5lnGyjfGDydatK7edOsHmGHS1E-"
        + "SWeaP6jwq9Wx0fXT_grhWVPAzXNjbksPFOMfoODnZHr6TLHkqyFmUAmuIgNOTGZtIxklTALL-"
        + "sA966dzaJcMeeWBTinIBje2LoiGR0SOjBShTNXnx_cFIqV8rIVomRoWHUnCBKtQ2YIQEZ5SZQ"
    ),
    (
      "p",
      "-dNexWOMzFTv1kBwTKowErEuYTODnbMlDWASXxMVHJ0UYB6MO6nZfLOkxHy6OeEBpKOR_b42yqgfNVMqozpruqit"
        + "MbjYj5tcCVWzfkVrSKKn2M5RM_31zkVAUnyMETSRnpuzPO5SE9DwSfCwxbBztbUtpPIWZyyf2Fa0p1gQSt8"
    ),
    (
      "q",
      "yKoozvgqHqJNHn4IfU6gW6xZf94QFHbReE_jofzx6ntXT1pNdrJuFwaukgV26DmbZFGBXX9XokW6mQ7yfizvBggS"
        + "ElZklEe7EDF4SqCKLWQi6mSSTIC95yq537qLDGLT_Y8u4BjLD7LtZlGHQ1wyxwNjd85TAzHXn-gjRZhWLZs"
    ),
    (
      "dp",
      "GI6IYEq6ylMHCD5pS3_nHc9AydkwdM3pNHlfFO1hQ-DE4fXevvahJDrcVVwVSh8t9CsH7LNH23_PIYS9SjIx6LUv"
        + "4RVUZDlXQKul6yGTvB4Q9aTCIqQyB0aTXghUFFTgg4C2i6S5eK0vEXWRSr1fglr-05ngTd_7Dl7nfxOO9m0"
    ),
    (
      "dq",
      "ecEtc6-GNwI5ktfcJNQRXq5ru7cswI37uWmX8BD_ZEwkhOSA_hVz0Qrf33_rTyqtC6icuvNqY-"
        + "61Muur3T08Zsd8152N956ydTffCkDwtmv894XAcyTmlR4KnCKe_gv1HvPC-"
        + "HxysXraquurDAckVDbNIsORAO48LC15QWAWYiM"
    ),
    (
      "qi",
      "6m_Hn8dzGmbJ8Ny4FZkg7OcN_cqhpkKyV0piN9SwajEUbJKWpxkXpjPSg-4_brmA1nnMCRNutsEa4RbKnO1Ln-"
        + "AcIMmp5jW_RxsifA1iP_QzOtqLfdwxmVl587WFBjFtYTxa5eeUL7FZ8VAksPpbIx1a_yzGf8G9xb2kZhaU47o"
    ),
  ]
}
