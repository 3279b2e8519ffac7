// Unbuilt: no Gradle could be had where this was written. ./build and ./test do the same, and are what the tests run.
pluginManagement {
  repositories {
    google()
    mavenCentral()
    gradlePluginPortal()
  }
}

dependencyResolutionManagement {
  repositories {
    google()
    mavenCentral()
  }
}

rootProject.name = "enrollkit"

// The Android parts take the Android SDK: -Pandroid.
if (providers.gradleProperty("android").isPresent) include(":android")
