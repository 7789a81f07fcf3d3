/** The library of `colloquy` is made of compiled modules of several packages, in a folder of the file system. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { writeLibrary } from "../../release/Library.ts"
import type { Manifest, Package } from "../../release/Workspace.ts"
import { home } from "../support/Home.ts"

const cli: Package = {
  room: "cli",
  folder: "/packages/cli",
  manifest: {
    name: "colloquy",
    version: "1.0.0",
    exports: { ".": "./src/Library.ts", "./package.json": "./package.json" },
    dependencies: { "@colloquy/core": "1.0.0" },
  },
}

const core = (changes: Partial<Manifest> = {}): Package => ({
  room: "core",
  folder: "/packages/core",
  manifest: {
    name: "@colloquy/core",
    version: "1.0.0",
    exports: { "./A": "./src/a/A.ts", "./b/*": "./src/b/*.ts" },
    dependencies: { effect: "4.1.0" },
    peerDependencies: { vitest: "^5.0.0" },
    peerDependenciesMeta: { vitest: { optional: true } },
    ...changes,
  },
})

/** Compiled modules by their paths; each has declarations with the same text and a map. */
const modules = {
  "cli/src/Library": 'export * from "@colloquy/core/A";',
  "core/src/a/A": 'import * as Fs from "node:fs";\nimport { b } from "@colloquy/core/b/B";',
  "core/src/b/B": 'import * as Effect from "effect/Effect";\nimport "../C.js";\nimport "vitest";',
  "core/src/C": "export const c = 1;",
  "core/src/Unused": "export const d = 1;",
}

const write = (packages: ReadonlyArray<Package>) =>
  Effect.map(home(), (folder) => {
    for (const [name, text] of Object.entries(modules)) {
      const path = join(folder, "build", name)
      mkdirSync(dirname(path), { recursive: true })
      for (const ending of [".js", ".d.ts", ".js.map"]) writeFileSync(`${path}${ending}`, text)
    }
    const into = join(folder, "package")
    const build = join(folder, "build")
    return {
      into,
      library: () => writeLibrary({ packages, of: cli, build, into, folder: "lib" }),
    }
  })

describe("writeLibrary", () => {
  it.effect("contains the modules that an export needs, with relative imports between them", () =>
    Effect.gen(function* () {
      const { into, library } = yield* write([cli, core()])
      const { imported, modules: written } = library()
      const text = (path: string) => readFileSync(join(into, "lib", path), "utf8")
      assert.deepStrictEqual(written, { "./src/Library.ts": "./lib/cli/Library.js" })
      assert.deepStrictEqual(imported, {
        dependencies: { effect: "4.1.0" },
        peerDependencies: { vitest: "^5.0.0" },
        peerDependenciesMeta: { vitest: { optional: true } },
      })
      assert.strictEqual(text("cli/Library.js"), 'export * from "../core/a/A.js";')
      assert.strictEqual(text("cli/Library.d.ts"), 'export * from "../core/a/A.js";')
      assert.include(text("core/a/A.js"), 'from "node:fs";\nimport { b } from "../b/B.js"')
      assert.include(text("core/b/B.js"), 'from "effect/Effect";\nimport "../C.js"')
      assert.isTrue(existsSync(join(into, "lib/core/C.js.map")))
      assert.isFalse(existsSync(join(into, "lib/core/Unused.js")))
    }),
  )

  const faults: ReadonlyArray<readonly [Partial<Manifest>, RegExp]> = [
    [{ exports: {} }, /imports @colloquy\/core\/A, which @colloquy\/core does not export/],
    [{ exports: { "./A": "./src/No.ts" } }, /core\/src\/No\.js: was not compiled/],
    [{ dependencies: {} }, /imports effect, which is no dependency of packages\/core/],
  ]
  for (const [changes, message] of faults) {
    it.effect(`refuses a package with ${JSON.stringify(changes)}`, () =>
      Effect.gen(function* () {
        const { library } = yield* write([cli, core(changes)])
        assert.throws(library, message)
      }),
    )
  }
})
