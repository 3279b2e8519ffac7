// Unbuilt: the Android SDK was not available where this was written.
plugins {
  id("com.android.library") version "8.13.0"
  kotlin("android") version "2.3.20"
}

android {
  namespace = "org.enrollkit.android"
  compileSdk = 36

  defaultConfig {
    minSdk = 24
    consumerProguardFiles("consumer-rules.pro")
    // The ABIs for which ./prebuilt made the native library.
    ndk { abiFilters += listOf("arm64-v8a", "x86_64") }
  }

  // The folder holds ABI/libenroll_jni.so.
  sourceSets["main"].jniLibs.srcDirs(rootDir.resolve("../../build/android"))
  // The binding itself is compiled in: its jar carries libraries for Linux.
  sourceSets["main"].kotlin.srcDirs("../src/main/kotlin", "../src/generated/kotlin")

  compileOptions {
    sourceCompatibility = JavaVersion.VERSION_11
    targetCompatibility = JavaVersion.VERSION_11
  }
}

kotlin {
  explicitApi()
}

dependencies {
  api("org.jetbrains.kotlinx:kotlinx-coroutines-android:1.10.2")
  api("org.jetbrains.kotlinx:kotlinx-serialization-json:1.9.0")
  implementation("androidx.activity:activity-ktx:1.10.1")
  implementation("androidx.browser:browser:1.8.0")
}
