/**
 * Edges with the requests that a client sends to a port as inputs, in memory: Host and Origin, credentials, routes, sessions,
 * bodies. After each input follows a request that must be served, and the sessions of the input end.
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { type Edge, type Verdict, Violation } from "@colloquy/simulation/fuzz/Edge"
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { countingCrypto, Ids, ownServer, services } from "../frames/Services.ts"
import * as HttpApp from "./HttpApp.ts"
import { goodHeaders, headerCorpus, requestCorpus } from "./HttpCorpus.ts"
import { faultOf } from "./HttpJudge.ts"
import { isWellFormed, mutateRequests, requestsOf, type RequestText } from "./RequestText.ts"

/** Requests of one input that are sent; others of it are not. */
const maxRequests = 12

const probe: RequestText = {
  method: "GET",
  target: "/v1/conversations",
  headers: goodHeaders,
  body: "",
}

const endSession = (id: string, token: string): RequestText => ({
  method: "DELETE",
  target: "/mcp",
  headers: [
    ["host", "localhost"],
    ["authorization", `Bearer ${token}`],
    ["mcp-session-id", id],
  ],
  body: "",
})

/** Sends the requests of an input one after the other. */
const send = Effect.fnUntraced(function* (app: HttpApp.HttpApp, input: Uint8Array) {
  let verdict: Verdict = "rejected"
  const sessions = new Set<string>()
  for (const request of requestsOf(input).slice(0, maxRequests)) {
    if (!isWellFormed(request)) continue
    const received = yield* app.request(request)
    if (received === undefined) continue
    const fault = faultOf(request, received)
    if (fault !== undefined) return yield* fault
    if (received.status < 300) verdict = "accepted"
    const session = received.headers["mcp-session-id"]
    if (session !== undefined) sessions.add(session)
  }
  for (const session of sessions) {
    for (const token of Object.keys(HttpApp.tokens)) yield* app.request(endSession(session, token))
  }
  const probed = yield* app.request(probe)
  if (probed?.status !== 200) {
    return yield* new Violation({ law: "L1", message: "a request after the input is not served" })
  }
  return verdict
})

const open = Effect.gen(function* () {
  const ids = new Ids()
  const { crypto, reset } = countingCrypto(yield* WebCrypto)
  const built = yield* Layer.build(Layer.provideMerge(ownServer, services(ids)))
  const context = Context.add(built, WebCrypto, crypto)
  const manager = Context.get(context, ConversationManager)
  const app = yield* Effect.provideContext(HttpApp.make, context)
  const clear = Effect.suspend(() => {
    reset()
    // An archived or already removed conversation is not found.
    return Effect.forEach(ids.takeMade(), (id) => Effect.ignore(manager.remove(id)), {
      discard: true,
    })
  })
  return {
    sizes: () => ({ requests: app.served() }),
    run: (input: Uint8Array) =>
      Effect.provideContext(Effect.ensuring(send(app, input), clear), context),
  }
})

const edgeOf = (name: string, summary: string, corpus: ReadonlyArray<Uint8Array>): Edge => ({
  name,
  summary,
  corpus,
  mutate: mutateRequests(corpus),
  inputsPerTarget: 200,
  open,
})

/** The edges of HTTP requests: whole requests, and their headers. */
export const httpRequests = (): ReadonlyArray<Edge> => [
  edgeOf(
    "http-requests",
    "what a client sends to a port: methods, targets, headers and bodies of every route",
    requestCorpus(),
  ),
  edgeOf(
    "http-headers",
    "headers of requests to a port: host, origin, credentials, what HTTP and MCP define",
    headerCorpus(),
  ),
]
