import { CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import { AppServer } from "@colloquy/protocol/app/AppServer"
import { AppServerV2 } from "@colloquy/protocol/thread/AppServerV2"
import { type Dialect, methodsOf } from "@colloquy/protocol/Method"
import { assert, describe, it } from "@effect/vitest"
import type * as Rpc from "effect/rpc/Rpc"
import * as Fs from "node:fs"
import { read, scan } from "./SourceTree.ts"

const { exists, modules } = read(Fs)

/** Where the methods of each dialect are defined, handled and tested. */
const of = <C extends Rpc.Any, S extends Rpc.Any>(folder: string, dialect: Dialect<C, S>) => ({
  folder,
  name: dialect.name,
  fromClient: [...methodsOf(dialect.clientToServer).keys()],
  fromServer: [...methodsOf(dialect.serverToClient).keys()],
})

const handled = [of("mcp", CodexMcp), of("app", AppServer)]
const threads = of("thread", AppServerV2)
const dialects = [...handled, threads]

/** One definition makes the notifications of all types of events; their names are written as those types alone. */
const isEvent = (method: string) => method.startsWith("codex/event/")

/** Names of methods that are also ordinary words of the sources. */
const words: ReadonlySet<string> = new Set(["error", "warning"])

const namesOf = ({ fromClient, fromServer }: (typeof dialects)[number]) =>
  [...fromClient, ...fromServer].filter((method) => !isEvent(method) && !words.has(method))

const names = new Set(dialects.flatMap(namesOf))

/** The only places where the names are written, in each of them once. */
const definitions = dialects.map(({ folder }) => `packages/protocol/src/${folder}/`)

const isDefinition = ({ file }: { readonly file: string }) =>
  definitions.some((folder) => file.startsWith(folder))

/** `tools/call` is handled in `ToolsCall.ts` and tested in `ToolsCall.test.ts`. */
const pascalName = (method: string): string =>
  method
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("")

const literals = (source: string) => scan(source).strings.filter((text) => names.has(text))

/** The handshake is that of v1; a request is cancelled by either version. */
const ofBothVersions: ReadonlySet<string> = new Set([
  "initialize",
  "initialized",
  "$/cancelRequest",
])

/** The tests of threads, which run in memory, over stdio framing and over WebSocket. */
const threadTests = (folder = `${import.meta.dirname}/../../server/test/thread`) =>
  Fs.readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => Fs.readFileSync(`${folder}/${file}`, "utf8"))

describe("Methods", () => {
  it("no method name is written outside its definition", () => {
    assert.deepStrictEqual(
      modules
        .filter((module) => !isDefinition(module))
        .flatMap(({ file, source }) => literals(source).map((name) => `${file}: "${name}"`)),
      [],
    )
  })

  it("the scan finds the names where they are, in any kind of quotes and nowhere else", () => {
    for (const dialect of dialects) {
      const own = new Set(namesOf(dialect))
      assert.deepStrictEqual(
        modules
          .filter(({ file }) => file.startsWith(`packages/protocol/src/${dialect.folder}/`))
          .flatMap(({ source }) => literals(source).filter((name) => own.has(name)))
          .toSorted(),
        [...own].toSorted(),
      )
    }
    const source = [
      `const a = "tools/call" + 'codex/event' + \`initialize\``,
      `// "tools/list"`,
      `const b = \`see \${f("ping")} tools/list\``,
      `const c = "tools/call is a method"`,
    ].join("\n")
    assert.deepStrictEqual(literals(source), ["tools/call", "codex/event", "initialize", "ping"])
  })

  it("names files after methods", () => {
    assert.deepStrictEqual(
      ["tools/call", "notifications/cancelled", "account/rateLimits/read"].map(pascalName),
      ["ToolsCall", "NotificationsCancelled", "AccountRateLimitsRead"],
    )
  })

  it("the tests of the app-server run over both connections: none creates a separate one", () => {
    const folder = `${import.meta.dirname}/../../server/test/app/methods`
    assert.deepStrictEqual(
      Fs.readdirSync(folder).filter((file) =>
        /\bmemoryPair\b|\bstreamPair\b/.test(Fs.readFileSync(`${folder}/${file}`, "utf8")),
      ),
      [],
    )
  })

  for (const { folder, fromClient, name: dialect } of handled) {
    for (const method of fromClient) {
      const name = pascalName(method)
      for (const file of [
        `packages/server/src/${folder}/methods/${name}.ts`,
        `packages/server/test/${folder}/methods/${name}.test.ts`,
      ]) {
        it(`${method} of ${dialect} has ${file}`, () => {
          assert.isTrue(exists(file))
        })
      }
    }
  }

  const tests = threadTests()
  for (const method of threads.fromClient) {
    const name = pascalName(method)
    const hasHandler = ["", "host/"].some((folder) =>
      exists(`packages/server/src/thread/${folder}methods/${name}.ts`),
    )
    if (!ofBothVersions.has(method)) {
      it(`${method} of ${threads.name} has a handler, and a test that sends it`, () => {
        assert.isTrue(hasHandler)
        assert.isTrue(tests.some((text) => text.includes(`"${method}"`)))
      })
    }
  }
})
