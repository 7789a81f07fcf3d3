/** The servers of the table, each with a separate state directory per process. */
import * as Effect from "effect/Effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Home from "../Home.ts"
import * as Session from "./Session.ts"

/** A server that takes part. */
export interface Contender {
  /** Title of its column. */
  readonly name: string
  readonly kind: "ours" | "floor" | "peer"
  readonly argv: Session.Command["argv"]
}

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The program itself. */
export const ours = (bin: string): Contender => ({
  name: "ours",
  kind: "ours",
  argv: [process.execPath, bin, "mcp"],
})

/** Plain Node with the same bytes and syncs. */
export const floor: Contender = {
  name: "floor",
  kind: "floor",
  argv: [process.execPath, pathOf("../peers/Floor.mjs")],
}

/** A process with a fresh state directory; both end with the scope. */
export const start = Effect.fnUntraced(function* (
  contender: Pick<Contender, "argv">,
  baseUrl: string,
  more: Readonly<Record<string, string>> = {},
) {
  const env = yield* Home.make(Home.providerConfig(baseUrl))
  const home = env["COLLOQUY_HOME"] ?? ""
  const cwd = join(home, "work")
  mkdirSync(cwd)
  return yield* Session.make({
    argv: contender.argv,
    cwd,
    env: { ...env, CODEX_HOME: home, ...more },
  })
})

/** A server of this command line; its words are separated by spaces. Named by the version that it states. */
export const peer = Effect.fnUntraced(function* (line: string, baseUrl: string) {
  const [program = "", ...args] = line.trim().split(/\s+/)
  const argv: Contender["argv"] = [program, ...args]
  const session = yield* start({ argv }, baseUrl)
  yield* session.codex("begin")
  return { name: session.version, kind: "peer", argv } satisfies Contender
}, Effect.scoped)
