import { assert, describe, it } from "@effect/vitest"
import { libraryManifest, programManifest } from "../../release/Manifests.ts"
import type { Manifest } from "../../release/Workspace.ts"

const manifest: Manifest = {
  name: "@colloquy/core",
  version: "1.2.3",
  description: "Conversations.",
  exports: { ".": "./src/index.ts", "./A": "./src/a/A.ts", "./b/*": "./src/b/*.ts" },
  dependencies: { "@colloquy/protocol": "1.2.3", diff: "9.0.0", effect: "4.1.0" },
  engines: { node: ">=22.19" },
}
const released = { "@colloquy/core": "1.2.3", "@colloquy/protocol": "1.2.3" }
const staged = (changes: Partial<Manifest> = {}) =>
  libraryManifest({ ...manifest, ...changes }, "core", released)

describe("libraryManifest", () => {
  it("exports compiled modules with their types", () => {
    assert.deepStrictEqual(staged().exports, {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./A": { types: "./dist/a/A.d.ts", default: "./dist/a/A.js" },
      "./b/*": { types: "./dist/b/*.d.ts", default: "./dist/b/*.js" },
      "./package.json": "./package.json",
    })
    assert.strictEqual(staged().types, "./dist/index.d.ts")
  })

  it("makes Effect a peer, and keeps own packages in the one version of the release", () => {
    const { dependencies, peerDependencies } = staged()
    assert.deepStrictEqual(dependencies, { "@colloquy/protocol": "1.2.3", diff: "9.0.0" })
    assert.deepStrictEqual(peerDependencies, { effect: "~4.1.0" })
  })

  it("keeps optional peers", () => {
    const vitest = { peerDependencies: { vitest: "^5.0.0" } }
    const { peerDependencies, peerDependenciesMeta } = staged({
      ...vitest,
      peerDependenciesMeta: { vitest: { optional: true } },
    })
    assert.deepStrictEqual(peerDependencies, { vitest: "^5.0.0", effect: "~4.1.0" })
    assert.deepStrictEqual(peerDependenciesMeta, { vitest: { optional: true } })
  })

  const faults: ReadonlyArray<readonly [changes: Partial<Manifest>, message: RegExp]> = [
    [{ description: "" }, /@colloquy\/core: description is missing; expected one sentence/],
    [{ exports: { "./A": "./test/A.ts" } }, /exports\["\.\/A"\] is \.\/test\/A\.ts; expected/],
    [{ exports: { "./A": null } }, /exports\["\.\/A"\] is no path; expected/],
    [{ dependencies: { "@colloquy/bench": "1.2.3" } }, /depends on @colloquy\/bench.*private/],
    [{ dependencies: { "@colloquy/protocol": "1.0.0" } }, /protocol 1\.0\.0; expected 1\.2\.3/],
  ]
  for (const [changes, message] of faults) {
    it(`refuses ${JSON.stringify(changes)}`, () => {
      assert.throws(() => staged(changes), message)
    })
  }
})

describe("programManifest", () => {
  const program: Manifest = {
    name: "colloquy",
    version: "1.2.3",
    description: "A program.",
    bin: { colloquy: "bin/colloquy.mjs" },
    files: ["bin"],
    dependencies: { "@colloquy/core": "1.2.3", effect: "4.1.0" },
  }
  const imported = { dependencies: { jose: "6.0.0", effect: "4.1.0" } }
  const modules = { "./src/index.ts": "./lib/cli/index.js" }

  it("depends on no other package of the repository, with a library or without one", () => {
    const alone = programManifest(program, "cli", {
      imported: {},
      library: "lib",
      modules: {},
      programs: { rg: "1.0.0" },
    })
    assert.isUndefined(alone.dependencies)
    assert.isUndefined(alone.peerDependencies)
    assert.deepStrictEqual(alone.optionalDependencies, { rg: "1.0.0" })
    assert.deepStrictEqual(alone.files, ["bin"])
    const both = programManifest({ ...program, exports: { ".": "./src/index.ts" } }, "cli", {
      imported,
      library: "lib",
      modules,
      programs: {},
    })
    assert.deepStrictEqual(both.dependencies, { jose: "6.0.0" })
    assert.deepStrictEqual(both.peerDependencies, { effect: "~4.1.0" })
    assert.deepStrictEqual(both.files, ["bin", "lib"])
    assert.deepStrictEqual(both.exports?.["."], {
      types: "./lib/cli/index.d.ts",
      default: "./lib/cli/index.js",
    })
  })

  it("refuses an export that was not compiled", () => {
    const parts = { imported, library: "lib", modules, programs: {} }
    assert.throws(
      () => programManifest({ ...program, exports: { "./a": "./src/A.ts" } }, "cli", parts),
      /colloquy: \.\/src\/A\.ts was not compiled/,
    )
  })
})
