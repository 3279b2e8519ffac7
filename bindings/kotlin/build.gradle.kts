// Unbuilt: Gradle was not available where this was written. ./build and ./test do the same, and the tests run those.
import org.jetbrains.kotlin.gradle.dsl.JvmTarget

plugins {
  kotlin("jvm") version "2.3.20"
  `java-library`
  `maven-publish`
}

group = "org.enrollkit"
version = "0.1.0"

val top = layout.projectDirectory.dir("../..")
val natives = layout.buildDirectory.dir("natives")

dependencies {
  // The public API uses both: flows, and a user's claims as JSON.
  api("org.jetbrains.kotlinx:kotlinx-coroutines-core:1.10.2")
  api("org.jetbrains.kotlinx:kotlinx-serialization-json:1.9.0")
  // Only org.enrollkit.okhttp needs it: an app that uses that package has OkHttp already.
  compileOnly("com.squareup.okhttp3:okhttp:3.13.1")
  testImplementation("com.squareup.okhttp3:okhttp:3.13.1")
  testImplementation("org.junit.jupiter:junit-jupiter:5.9.2")
  testRuntimeOnly("org.junit.platform:junit-platform-launcher:1.9.2")
}

kotlin {
  explicitApi()
  compilerOptions {
    jvmTarget = JvmTarget.JVM_11
    allWarningsAsErrors = true
  }
  sourceSets["main"].kotlin.srcDir("src/generated/kotlin")
  sourceSets["main"].kotlin.srcDir("src/okhttp/kotlin")
  sourceSets["test"].kotlin.srcDir("example")
}

java {
  sourceCompatibility = JavaVersion.VERSION_11
  targetCompatibility = JavaVersion.VERSION_11
  withSourcesJar()
}

// Carries libenroll_jni.so and libenroll.so.0; run `make lib` first.
val buildNatives by tasks.registering(Exec::class) {
  commandLine("./natives", natives.get().asFile.path)
  inputs.file("src/main/c/enroll_jni.c")
  inputs.dir(top.dir("include"))
  outputs.dir(natives)
}

tasks.processResources {
  from(buildNatives)
}

tasks.test {
  useJUnitPlatform()
  jvmArgs("-Xcheck:jni")
  systemProperty("enroll.top", top.asFile.path)
  systemProperty("enroll.binding", projectDir.path)
  systemProperty("enroll.daemon", top.file("build/lib/enrolld").asFile.path)
  systemProperty("enroll.sandbox", top.file(".build/debug/enroll-sandbox").asFile.path)
}

publishing {
  publications.create<MavenPublication>("library") { from(components["java"]) }
}
