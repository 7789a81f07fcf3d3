/** Clients of app-server v2 at two nodes of a cluster: the built program, sockets and PostgreSQL. */
import { WebSocket } from "@effect/platform-node/NodeWS"
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { startNodes } from "./nodes/ServerNodes.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { describeWithPostgres } from "./support/Databases.ts"

beforeAll(buildIfMissing, 120_000)

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly threadName?: string; readonly thread?: { readonly id: string } }
  readonly result?: { readonly thread?: { readonly id: string; readonly ephemeral?: boolean } }
}

interface Client {
  /** Sends a request and resolves with its response. */
  readonly ask: (method: string, params: object) => Effect.Effect<Message>
  /** Resolves with the first message that matches, once it has arrived. */
  readonly until: (matches: (message: Message) => boolean) => Effect.Effect<Message>
}

/** A client of the server at this address, which has introduced itself. */
const connect = Effect.fnUntraced(function* (
  url: string,
  token: string,
): Effect.fn.Return<Client, never, Scope.Scope> {
  const received: Array<Message> = []
  const waiting = new Set<() => void>()
  const socket = yield* Effect.acquireRelease(
    Effect.callback<WebSocket>((resume) => {
      const opening = new WebSocket(`${url.replace("http", "ws")}/ws`, {
        headers: { authorization: `Bearer ${token}` },
      })
      opening.on("message", (data) => {
        received.push(JSON.parse((data as Buffer).toString("utf8")) as Message)
        for (const look of waiting) look()
      })
      opening.on("open", () => resume(Effect.succeed(opening)))
    }),
    (open) => Effect.sync(() => open.terminate()),
  )
  const until = (matches: (message: Message) => boolean) =>
    Effect.callback<Message>((resume) => {
      const look = () => {
        const found = received.find(matches)
        if (found !== undefined) resume(Effect.succeed(found))
      }
      waiting.add(look)
      look()
      return Effect.sync(() => waiting.delete(look))
    })
  let id = 0
  const ask = (method: string, params: object) =>
    Effect.suspend(() => {
      const request = ++id
      socket.send(JSON.stringify({ id: request, method, params }))
      return until((message) => message.method === undefined && message.id === request)
    })
  yield* ask("initialize", {
    clientInfo: { name: "test", version: "1" },
    capabilities: { experimentalApi: true },
  })
  return { ask, until }
})

/** Starts a thread by one client. Fails where the other one is not notified of it in time. */
const startedAtBoth = Effect.fnUntraced(function* (here: Client, there: Client) {
  const started = yield* here.ask("thread/start", {})
  const threadId = started.result?.thread?.id ?? ""
  const notified = there.until(
    ({ method, params }) => method === "thread/started" && params?.thread?.id === threadId,
  )
  return yield* Effect.as(Effect.timeout(notified, "2 seconds"), threadId)
})

describeWithPostgres("clients of app-server v2 at two nodes", (server) => {
  it.live(
    "are notified of each other's changes of any length, and reach each other's ephemeral threads",
    () =>
      Effect.gen(function* () {
        const nodes = yield* startNodes(server.newDatabase(), 2)
        const [a = assert.fail("no node"), b = assert.fail("no node")] = nodes.all()
        const here = yield* connect(a.url, nodes.token)
        const there = yield* connect(b.url, nodes.token)
        // A node begins to listen to the others in its own time.
        const threadId = yield* Effect.retry(startedAtBoth(here, there), { times: 20 })
        const name = "漢".repeat(1000)
        yield* here.ask("thread/name/set", { threadId, name })
        yield* there.until(({ params }) => params?.threadName === name)
        yield* there.ask("thread/archive", { threadId })
        yield* here.until(({ method }) => method === "thread/archived")
        // While the shards are being shared, one that was this node's when its thread was created may pass to the other node.
        const read = Effect.gen(function* () {
          const inMemory = yield* here.ask("thread/start", { ephemeral: true })
          return yield* there.ask("thread/read", { threadId: inMemory.result?.thread?.id })
        })
        yield* Effect.filterOrFail(read, ({ result }) => result?.thread?.ephemeral === true).pipe(
          Effect.delay("100 millis"),
          Effect.retry({ times: 20 }),
        )
      }).pipe(Effect.scoped),
    60_000,
  )
})
