import { CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import { methodsOf } from "@colloquy/protocol/Method"
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import { read, scan } from "./SourceTree.ts"

const { exists, modules } = read(Fs)

const fromClient = [...methodsOf(CodexMcp.clientToServer).keys()]
const names = new Set([...fromClient, ...methodsOf(CodexMcp.serverToClient).keys()])

/** The only place where the names are written, each once. */
const definitions = "packages/protocol/src/mcp/"

const isDefinition = ({ file }: { readonly file: string }) => file.startsWith(definitions)

/** `tools/call` is handled in `ToolsCall.ts` and tested in `ToolsCall.test.ts`. */
const pascalName = (method: string): string =>
  method
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("")

const literals = (source: string) => scan(source).strings.filter((text) => names.has(text))

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
    assert.deepStrictEqual(
      modules
        .filter(isDefinition)
        .flatMap(({ source }) => literals(source))
        .toSorted(),
      [...names].toSorted(),
    )
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
      ["tools/call", "notifications/cancelled", "initialize"].map(pascalName),
      ["ToolsCall", "NotificationsCancelled", "Initialize"],
    )
  })

  for (const method of fromClient) {
    const name = pascalName(method)
    for (const file of [
      `packages/server/src/mcp/${name}.ts`,
      `packages/server/test/mcp/${name}.test.ts`,
    ]) {
      it(`${method} has ${file}`, () => {
        assert.isTrue(exists(file))
      })
    }
  }
})
