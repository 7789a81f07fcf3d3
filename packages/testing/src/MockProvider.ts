/**
 * A scripted model provider on a loopback socket, for both wires
 * (`POST /v1/responses`, `POST /v1/chat/completions`).
 *
 * For live tests and benchmarks: the only module of this package that opens a socket. The parts of a reply without a
 * delay between them are sent in one write. Every connection ends with the scope (L8).
 */
import * as Http from "node:http"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import { seenRequest, type SeenRequest } from "./internal/ProviderRequest.ts"
import { type ProviderAction, render } from "./ProviderBody.ts"
import {
  type ProviderReply,
  type ProviderScript,
  type ProviderWire,
  replyTo,
} from "./ProviderScript.ts"

/** The provider and what it has received. */
export interface MockProvider {
  /** Base URL for both wires: `http://127.0.0.1:<port>/v1`. */
  readonly baseUrl: string
  /** Requests in order of arrival. */
  readonly requests: Effect.Effect<ReadonlyArray<SeenRequest>>
  /** Indices of the requests whose connection the client closed before the response was complete. */
  readonly closed: Effect.Effect<ReadonlyArray<number>>
  /** Resolves when the request with that index has been read. */
  readonly awaitRequest: (index: number) => Effect.Effect<void>
  /** Resolves when the client has closed the connection of that request. */
  readonly awaitClosed: (index: number) => Effect.Effect<void>
}

const readBody = (request: Http.IncomingMessage): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => resume(Effect.succeed(Buffer.concat(chunks).toString("utf8"))))
  })

const write = (response: Http.ServerResponse, text: string): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (response.write(text)) resume(Effect.void)
    else response.once("drain", () => resume(Effect.void))
  })

/** A response that is being sent; `broken` says that the provider itself broke the connection. */
interface Answer {
  readonly response: Http.ServerResponse
  broken: boolean
}

const breakOff = (answer: Answer): Effect.Effect<void> =>
  Effect.sync(() => {
    answer.broken = true
    answer.response.destroy()
  })

const perform = (answer: Answer, action: ProviderAction): Effect.Effect<void> => {
  switch (action._tag) {
    case "Write":
      return write(answer.response, action.text)
    case "Wait":
      return Effect.sleep(action.duration)
    case "Drop":
      return breakOff(answer)
    case "Hang":
      return Effect.never
  }
}

const send = (
  answer: Answer,
  reply: ProviderReply,
  actions: ReadonlyArray<ProviderAction>,
): Effect.Effect<void> => {
  const { response } = answer
  switch (reply._tag) {
    case "Refuse":
      return breakOff(answer)
    case "Silence":
      return Effect.never
    case "Status":
      return Effect.sync(() => {
        response.writeHead(reply.status, reply.headers).end(reply.body)
      })
    case "Stream":
      return Effect.gen(function* () {
        response.writeHead(200, { "content-type": "text/event-stream" })
        // The headers are sent at once, also before a delay, as real providers do.
        response.flushHeaders()
        yield* Effect.forEach(actions, (action) => perform(answer, action), { discard: true })
        response.end()
      })
  }
}

const listen = (server: Http.Server): Effect.Effect<number> =>
  Effect.callback((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(
        typeof address === "object" && address !== null
          ? Effect.succeed(address.port)
          : Effect.die(new Error("the server has no port")),
      )
    })
  })

const close = (server: Http.Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** Starts an HTTP server on a free port of the loopback address and returns the port; every handler ends with the scope. */
const serve = Effect.fnUntraced(function* (
  handle: (request: Http.IncomingMessage, response: Http.ServerResponse) => Effect.Effect<void>,
) {
  const run = yield* FiberSet.makeRuntime()
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Http.createServer((request, response) => {
        run(handle(request, response))
      }),
    ),
    close,
  )
  return yield* listen(server)
})

/** Caches rendered replies per wire, because rendering tens of thousands of deltas takes longer than sending them. */
const makeRenderer = () => {
  const rendered = new WeakMap<ProviderReply, Map<ProviderWire, ReadonlyArray<ProviderAction>>>()
  return (wire: ProviderWire, reply: ProviderReply): ReadonlyArray<ProviderAction> => {
    if (reply._tag !== "Stream") return []
    const known = rendered.get(reply) ?? new Map<ProviderWire, ReadonlyArray<ProviderAction>>()
    rendered.set(reply, known)
    const actions = known.get(wire) ?? render(wire, reply)
    known.set(wire, actions)
    return actions
  }
}

const headersOf = (request: Http.IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  )

/** Events that happen once per request, for callers that wait for them. */
const makeMilestones = Effect.sync(() => {
  const latches = new Map<number, Latch.Latch>()
  const latch = (index: number) => {
    const found = latches.get(index) ?? Latch.makeUnsafe(false)
    latches.set(index, found)
    return found
  }
  return {
    reach: (index: number): Effect.Effect<void> => Effect.asVoid(latch(index).open),
    wait: (index: number): Effect.Effect<void> => latch(index).await,
  }
})

/** Resolves when the response has ended; runs `onClose` when the client closed the connection before. */
const untilClosed = (answer: Answer, onClose: Effect.Effect<void>) =>
  Effect.callback<void>((resume) => {
    answer.response.once("close", () => {
      resume(answer.response.writableFinished || answer.broken ? Effect.void : onClose)
    })
  })

/** Starts the server; it stops with the scope. */
export const make = (script: ProviderScript): Effect.Effect<MockProvider, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests: Array<SeenRequest> = []
    const closed: Array<number> = []
    const arrivals = yield* makeMilestones
    const closings = yield* makeMilestones
    const actionsOf = makeRenderer()

    const handle = Effect.fnUntraced(function* (
      request: Http.IncomingMessage,
      response: Http.ServerResponse,
    ) {
      const body = yield* readBody(request)
      const call = seenRequest(requests.length, {
        method: request.method ?? "",
        url: request.url ?? "",
        headers: headersOf(request),
        body,
      })
      requests.push(call)
      yield* arrivals.reach(call.index)
      const reply = replyTo(script, call)
      const answer: Answer = { response, broken: false }
      const sent = send(answer, reply, actionsOf(call.wire, reply))
      const onClose = Effect.suspend(() => {
        closed.push(call.index)
        return closings.reach(call.index)
      })
      yield* Effect.raceFirst(untilClosed(answer, onClose), Effect.andThen(sent, Effect.never))
    })

    const port = yield* serve(handle)
    return {
      baseUrl: `http://127.0.0.1:${port}/v1`,
      requests: Effect.sync(() => [...requests]),
      closed: Effect.sync(() => [...closed]),
      awaitRequest: arrivals.wait,
      awaitClosed: closings.wait,
    }
  })
