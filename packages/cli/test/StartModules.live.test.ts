/** What a process loads before it answers `initialize`: counts of the built program and of the sources. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { globSync, readFileSync, statSync } from "node:fs"
import { isBuiltin } from "node:module"
import { basename, dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { buildIfMissing } from "./support/BuiltProgram.ts"

const packages = fileURLToPath(new URL("../../", import.meta.url))
const dist = `${packages}cli/dist`

/** What `paths` reach by `next`, and they themselves. */
const closureOf = (
  paths: ReadonlyArray<string>,
  next: (path: string) => ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const closure = new Set<string>()
  const left = [...paths]
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (closure.has(path)) continue
    closure.add(path)
    left.push(...next(path))
  }
  return [...closure].toSorted()
}

/** The paths of the imports that are not erased with the types. */
const importsOf = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(/^import (?!type )(?:([^"]*?) from )?"([^"]+)"/gms)].flatMap(
    ([, names = "", path = ""]) =>
      /^\{(\s*type [^,}]+,?)*\s*\}$/.test(names.trim()) && names !== "" ? [] : [path],
  )

/** The sources of this repository that a source imports. */
const sourcesOf = (path: string): ReadonlyArray<string> =>
  importsOf(readFileSync(path, "utf8")).flatMap((from) => {
    if (from.startsWith(".")) return [resolve(dirname(path), from)]
    const [, name, subpath] = /^@colloquy\/([^/]+)\/(.+)$/.exec(from) ?? []
    return name === undefined ? [] : [`${packages}${name}/src/${subpath}.ts`]
  })

/** The chunks that a chunk imports statically. */
const chunksOf = (path: string): ReadonlyArray<string> =>
  [...readFileSync(path, "utf8").matchAll(/(?:from|import)"(\.\/[\w.-]+\.mjs)"/g)].map(
    ([, from = ""]) => resolve(dist, from),
  )

const started = () => closureOf([`${dist}/colloquy.mjs`], chunksOf)

const tolerated = (count: number) => Math.floor(count * 1.1)

describe("the modules of a start", () => {
  beforeAll(buildIfMissing, 60_000)

  it("loads few files, and no more bytes than before, until `initialize` is answered", () => {
    const chunks = started()
    assert.deepStrictEqual(
      chunks.map((path) => basename(path).replace(/-[\w-]{8}\.mjs$/, "")),
      ["colloquy.mjs", "rolldown-runtime", "start"],
    )
    const bytes = chunks.reduce((sum, path) => sum + statSync(path).size, 0)
    assert.isAtMost(bytes, tolerated(264_000))
  })

  it("evaluates few of its modules until `initialize` is answered, and none that builds a layer", () => {
    const modules = closureOf(
      [`${packages}cli/src/main.ts`, `${packages}cli/src/commands/Mcp.ts`],
      sourcesOf,
    )
    assert.isAtLeast(modules.length, 40)
    assert.isAtMost(modules.length, tolerated(62))
    const later = [
      "cli/src/Application.ts",
      "cli/src/lazy/",
      "server/src/Server.ts",
      "server/src/McpServer.ts",
    ]
    assert.deepStrictEqual(
      modules.filter((path) => later.some((one) => path.startsWith(`${packages}${one}`))),
      [],
    )
  })

  it("reads only cheap modules of Node until `initialize` is answered", () => {
    const builtins = started().flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/getBuiltinModule\(["`]([^"`]+)["`]\)/g)].map(
        ([, name = ""]) => name,
      ),
    )
    assert.deepStrictEqual([...new Set(builtins)].toSorted(), [
      "node:buffer",
      "node:fs",
      "node:module",
      "node:os",
      "node:path",
    ])
  })

  it("loads neither the cryptography nor the processes of Node before a session uses them", () => {
    const bound = globSync(`${dist}/{start,serve,conversations,turn}-*.mjs`).flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/=process\.getBuiltinModule\("([^"]+)"\)/g)].map(
        ([, name = ""]) => name,
      ),
    )
    assert.includeMembers(bound, ["node:fs", "node:path"])
    assert.notIncludeMembers(bound, ["node:crypto", "node:child_process"])
  })

  it("loads nothing that observes conversations where no configuration asks for it", () => {
    const chunks = closureOf(globSync(`${dist}/{start,serve,conversations,turn}-*.mjs`), chunksOf)
    assert.isAbove(chunks.length, 3)
    const observing = /^(?:Telemetry\w*|Metrics|Otlp\w*|PrometheusMetrics)-/
    assert.deepStrictEqual(
      chunks.map((path) => basename(path)).filter((name) => observing.test(name)),
      [],
    )
    for (const path of chunks)
      assert.notInclude(readFileSync(path, "utf8"), "gen_ai.", basename(path))
  })

  it("loads nothing of clusters or databases where no configuration asks for it", () => {
    const modules = closureOf(
      [`${packages}cli/src/main.ts`, `${packages}cli/src/commands/ServeCommand.ts`],
      sourcesOf,
    )
    const later = /\/(?:cluster\/src|store-sql\/src\/node)\/|\/(?:ClusterPlace|ClusterOptions)\.ts$/
    assert.include(modules, `${packages}cli/src/cluster/ConfiguredCluster.ts`)
    assert.deepStrictEqual(
      modules.filter((path) => later.test(path)),
      [],
    )
  })

  it("binds the modules of Node without reading each of their members", () => {
    const imports = globSync(`${dist}/*.mjs`).flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/\bfrom\s*"([\w:/]+)"/g)].map(
        ([, from = ""]) => from,
      ),
    )
    assert.deepStrictEqual(imports.filter(isBuiltin), [])
  })
})
