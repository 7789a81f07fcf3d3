/**
 * What the built program leaves in the compile cache of Node, and what a later process uses of it. V8 rejects a cached
 * file that was compiled with other flags, and then compiles it again while a client waits.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as CliProcess from "./CliProcess.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"

beforeAll(buildIfMissing, 60_000)

const dist = join(import.meta.dirname, "../dist")

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-cache-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, maxRetries: 10, force: true })),
)

const request = (id: number, method: string, params: unknown) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
})

const clientInfo = { name: "test", version: "1" }

const mcpRequests = [
  request(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }),
  request(2, "tools/call", { name: "codex", arguments: { prompt: "hi" } }),
]

const appRequests = [request(1, "initialize", { clientInfo }), request(2, "newConversation", {})]

/** Runs a session and returns what Node reports about its cache. */
const session = (cache: string, command: string, requests: ReadonlyArray<unknown>) =>
  Effect.gen(function* () {
    const cli = yield* CliProcess.start([command], {
      NODE_COMPILE_CACHE: cache,
      NODE_DEBUG_NATIVE: "COMPILE_CACHE",
    })
    cli.write(...requests)
    yield* cli.stdoutHas(`"id":2,"result"`)
    cli.child.stdin.end()
    const { code, stderr } = yield* cli.outcome
    assert.strictEqual(code, 0)
    return stderr
  }).pipe(Effect.scoped)

/** Names of the program's files, without their hashes, of which the cached code met this fate. */
const filesThatWere = (fate: "accepted" | "rejected", report: string): ReadonlyArray<string> =>
  [...report.matchAll(/V8 code cache for ESM \S*\/dist\/([\w.-]+)\.mjs was (\w+)/g)]
    .flatMap(([, file = "", found]) => (found === fate ? [file.replace(/-[\w-]{8}$/, "")] : []))
    .toSorted()

const sizeOf = (chunk: string) =>
  globSync(`${dist}/${chunk}-*.mjs`).reduce((sum, path) => sum + statSync(path).size, 0)

/** Bytes that the cache holds for a chunk. */
const cachedSize = (chunk: string, report: string): number => {
  const [, file = ""] =
    new RegExp(`reading cache from (\\S+) for ESM \\S*/dist/${chunk}-`).exec(report) ?? []
  return readFileSync(file).length
}

describe("the compile cache of Node", () => {
  it.live(
    "is accepted by every later process, whichever dialect it speaks",
    () =>
      Effect.gen(function* () {
        const cache = yield* temporaryFolder
        yield* session(cache, "mcp", mcpRequests)
        yield* session(cache, "app-server", appRequests)
        const mcp = yield* session(cache, "mcp", mcpRequests)
        const app = yield* session(cache, "app-server", appRequests)
        assert.deepStrictEqual(filesThatWere("rejected", mcp + app), [])
        const ofTurn = ["conversations", "rolldown-runtime", "serve", "start", "turn"]
        assert.includeMembers([...filesThatWere("accepted", mcp)], ofTurn)
        assert.includeMembers([...filesThatWere("accepted", app)], ["serve", "start"])
      }),
    30_000,
  )

  it.live(
    "holds every function of the chunks of a first conversation, and of the start those that it calls",
    () =>
      Effect.gen(function* () {
        const cache = yield* temporaryFolder
        yield* session(cache, "mcp", mcpRequests)
        const report = yield* session(cache, "mcp", mcpRequests)
        for (const chunk of ["serve", "conversations", "turn"]) {
          assert.isAbove(cachedSize(chunk, report), 3 * sizeOf(chunk), chunk)
        }
        // Without those that a start calls it would be a third less, and with all functions twice as much.
        assert.isAbove(cachedSize("start", report), 1.8 * sizeOf("start"))
        assert.isBelow(cachedSize("start", report), 2.5 * sizeOf("start"))
      }),
    30_000,
  )
})
