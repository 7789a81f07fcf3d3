import { assert, describe, it } from "@effect/vitest"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import { findProtectedPaths } from "../../src/sandbox/FindProtectedPaths.ts"

const missing = (method: string, path: string) =>
  PlatformError.systemError({
    _tag: "NotFound",
    module: "FileSystem",
    method,
    pathOrDescriptor: path,
  })

const directory: FileSystem.File.Info = {
  type: "Directory",
  mtime: Option.none(),
  atime: Option.none(),
  birthtime: Option.none(),
  dev: 0n,
  ino: Option.none(),
  mode: 0o755,
  nlink: Option.none(),
  uid: Option.none(),
  gid: Option.none(),
  rdev: Option.none(),
  size: ByteSize.zero,
  blksize: Option.none(),
  blocks: Option.none(),
}

/** A file system on which a `.git` is found first and has vanished afterwards. */
const vanishing = FileSystem.layerNoop({
  lstat: (path) =>
    path.includes("/.git/") ? Effect.fail(missing("lstat", path)) : Effect.succeed(directory),
  readDirectory: (path) => Effect.fail(missing("readDirectory", path)),
})

describe("what the sandbox protects", () => {
  it.effect("a placeholder that another command removes meanwhile is replaced by a new one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* findProtectedPaths(["/nowhere"], "/nowhere", []), [
        { path: "/nowhere/.git", kind: "empty" },
      ])
    }).pipe(Effect.provide(Layer.merge(vanishing, Path.layer))),
  )
})
