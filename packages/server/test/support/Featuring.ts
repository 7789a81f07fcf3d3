/** A server with features of a test, and a client of any revision. */
import { MetaKey } from "@colloquy/protocol/mcp/Revisions"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Definitions, type Features, make } from "../../src/features/Features.ts"
import { type Harness, type HarnessOptions, withServer } from "./Harness.ts"
import type { WireMessage } from "./Wire.ts"

/** Runs `body` against a server with these features. */
export const withFeatures = <A, E>(
  definitions: Definitions<never>,
  body: (server: Harness, features: Features) => Effect.Effect<A, E, Scope.Scope>,
  options: HarnessOptions = {},
): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.orDie(make(definitions)), (features) =>
    withServer({ ...options, features }, (server) => body(server, features)),
  )

/** The `_meta` that a request without a handshake carries. */
export const stateless = (params: object = {}) => ({
  ...params,
  _meta: {
    [MetaKey.protocolVersion]: "2026-07-28",
    [MetaKey.clientInfo]: { name: "test", version: "1" },
    [MetaKey.clientCapabilities]: {},
  },
})

export const initialized = (server: Harness, protocolVersion = "2025-11-25") =>
  server.ask("init", "initialize", {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  })

let asked = 0

/** Every item of a list, page by page, and how large the pages were. */
export const allPages = (server: Harness, method: string, member: string) =>
  Effect.gen(function* () {
    const items: Array<Readonly<Record<string, unknown>>> = []
    const sizes: Array<number> = []
    let cursor: unknown
    do {
      const params = cursor === undefined ? {} : { cursor }
      const { result } = yield* server.ask(`page ${++asked}`, method, params)
      const page = result?.[member] as ReadonlyArray<Readonly<Record<string, unknown>>>
      items.push(...page)
      sizes.push(page.length)
      cursor = result?.["nextCursor"]
    } while (cursor !== undefined && sizes.length < 1000)
    return { items, sizes }
  })

export const codeOf = ({ error }: WireMessage) => error?.code

/** The notifications so far, in order. */
export const noticesOf = ({ messages }: Pick<Harness, "messages">) =>
  messages.flatMap(({ id, method, params }) =>
    method === undefined || id !== undefined
      ? []
      : [params === undefined ? { method } : { method, params }],
  )
