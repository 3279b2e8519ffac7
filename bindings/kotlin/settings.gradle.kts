// Unbuilt: Gradle was not available where this was written. ./build and ./test do the same, and the tests run those.
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

// The Android parts need the Android SDK: -Pandroid.
if (providers.gradleProperty("android").isPresent) include(":android")
