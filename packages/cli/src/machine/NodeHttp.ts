/**
 * `ProviderHttp` on `node:http` and `node:https`. Owns the connections, which are kept for
 * later requests. Has no time limit for a response: the model client ends an exchange that takes too long. Holds at most
 * `maxHeldBytes` and one network read of a body that nobody reads (L6).
 */
import {
  type Exchange,
  type ProviderPost,
  type ProviderHttp,
  type ResponseHead,
  HttpFailure,
} from "@colloquy/models/ProviderHttp"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type * as Http from "node:http"
import type * as Https from "node:https"
import { urlToHttpOptions } from "node:url"

/** An import statement would also load the WebSocket client of Node, which its list of exports names. */
const http = process.getBuiltinModule("node:http")

/**
 * How long an unused connection is kept open for the next request, which then needs no handshake. Shorter than the time
 * after which networks silently drop unused connections. Does not limit connections in use.
 */
const maxUnusedMs = 30_000

/** A body is paused while this much of it waits to be read. */
const maxHeldBytes = 64 * 1024

const agentOptions = { keepAlive: true, timeout: maxUnusedMs }

const closed = new HttpFailure({ cause: new Error("the exchange was closed") })

const failureOf = (cause: unknown): Effect.Effect<never, HttpFailure> =>
  Effect.fail(new HttpFailure({ cause }))

/** Starts a request whose headers are not sent yet. */
type Open = (headers: ProviderPost["headers"]) => Http.ClientRequest

/**
 * One request on one connection.
 *
 *     prepared ── head ──► sent ── response ──► body ── end ──► the connection is free
 *        └───────────────────┴─────── close, error ──┴────────► the connection is destroyed
 */
class NodeExchange implements Exchange {
  private readonly open: Open
  private readonly post: ProviderPost
  private request: Http.ClientRequest | undefined
  private response: Http.IncomingMessage | undefined
  private chunks: Array<Uint8Array> = []
  private heldBytes = 0
  private hasEnded = false
  private isClosed = false
  private isWaking = false
  private failure: Effect.Effect<never, HttpFailure> | undefined
  /** Continues the fiber that waits in `head` or `read`. */
  private wake: (() => void) | undefined

  constructor(open: Open, post: ProviderPost) {
    this.open = open
    this.post = post
  }

  readonly head: Exchange["head"] = Effect.callback((resume) => {
    this.wake = () => resume(this.headNow() ?? this.failure ?? failureOf("no response"))
    this.send()
    return this.close
  })

  readonly read: Exchange["read"] = Effect.suspend(
    () => this.readNow() ?? Effect.callback((resume) => this.awaitBytes(resume)),
  )

  readonly isReady = (): boolean =>
    this.chunks.length > 0 || this.failure !== undefined || this.isComplete()

  readonly isReceived = (): boolean => this.hasEnded

  readonly close: Exchange["close"] = Effect.sync(() => {
    if (this.isClosed) return
    this.isClosed = true
    // The end of a body that has arrived is still emitted, which frees the connection.
    if (this.isComplete()) {
      this.response?.resume()
      this.failure ??= Effect.fail(closed)
      return this.continue()
    }
    this.request?.destroy()
    this.fail(Effect.fail(closed))
  })

  private send(): void {
    if (this.isClosed) return this.fail(Effect.fail(closed))
    try {
      const request = this.open(this.post.headers)
      this.request = request
      request.on("response", (response) => this.receive(response))
      // A provider that changes the protocol has answered with a status that is no success.
      request.on("upgrade", (response, socket) => {
        socket.destroy()
        this.receive(response)
      })
      request.on("error", (error) => this.fail(failureOf(error)))
      request.end(this.post.body)
    } catch (error) {
      this.fail(failureOf(error))
    }
  }

  private receive(response: Http.IncomingMessage): void {
    this.response = response
    response.on("data", this.hold)
    // The connection is free one tick after the end, and the next request may follow at once.
    response.on("end", () =>
      process.nextTick(() => {
        this.hasEnded = true
        this.continue()
      }),
    )
    response.on("error", (error) => this.fail(failureOf(error)))
    response.on("close", () => {
      if (!this.isComplete()) this.fail(failureOf("the connection was closed"))
    })
    this.continueSoon()
  }

  private readonly hold = (chunk: Uint8Array): void => {
    if (this.isClosed) return
    this.chunks.push(chunk)
    this.heldBytes += chunk.length
    if (this.heldBytes >= maxHeldBytes) this.response?.pause()
    this.continueSoon()
  }

  /** Continues after the parser has handled the whole network read, so that the reader sees all of it. */
  private continueSoon(): void {
    if (this.wake === undefined || this.isWaking) return
    this.isWaking = true
    process.nextTick(() => {
      this.isWaking = false
      // The end follows within this turn of the event loop: the reader sees it too, and need not wait for it.
      if (!this.isComplete() || this.response?.isPaused() === true) this.continue()
    })
  }

  private fail(failure: Effect.Effect<never, HttpFailure>): void {
    this.holdRest()
    this.failure ??= failure
    this.continue()
  }

  /** Takes what Node.js has received and would no longer deliver after an error. */
  private holdRest(): void {
    const { response } = this
    if (response === undefined) return
    response.off("data", this.hold)
    for (;;) {
      const rest: unknown = response.read()
      if (!(rest instanceof Uint8Array)) return
      this.hold(rest)
    }
  }

  private continue(): void {
    const { wake } = this
    this.wake = undefined
    wake?.()
  }

  /** True when the whole body was received; what is not read yet is in `chunks`. */
  private isComplete(): boolean {
    return this.response?.complete === true && this.response.readableLength === 0
  }

  private headNow(): Effect.Effect<ResponseHead> | undefined {
    const { response } = this
    return response === undefined
      ? undefined
      : Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers })
  }

  private readNow(): Exchange["read"] | undefined {
    const { chunks } = this
    if (Arr.isArrayNonEmpty(chunks)) {
      this.chunks = []
      this.heldBytes = 0
      if (this.response?.isPaused() === true) this.response.resume()
      return Effect.succeed(chunks)
    }
    return this.hasEnded ? Effect.undefined : this.failure
  }

  private awaitBytes(resume: (result: Exchange["read"]) => void): Effect.Effect<void> {
    const look = () => {
      const found = this.readNow()
      if (found === undefined) this.wake = look
      else resume(found)
    }
    this.wake = look
    return Effect.sync(() => {
      this.wake = undefined
    })
  }
}

/** Starts requests to one URL; what Node.js needs of it is derived once. */
type Opener = (module: Pick<typeof Http, "request">, agent: Http.Agent, url: URL) => Open

const makeOpener = (): Opener => {
  const known = new WeakMap<URL, Http.RequestOptions>()
  return (module, agent, url) => {
    const options = known.get(url) ?? { ...urlToHttpOptions(url), method: "POST", agent }
    known.set(url, options)
    return (headers) => module.request({ ...options, headers })
  }
}

interface Secure {
  readonly module: typeof Https
  readonly agent: Https.Agent
}

/** Loaded with the first `https:` request: a provider on this machine needs no TLS. */
const loadSecure: Effect.Effect<Secure, never, Scope.Scope> = Effect.acquireRelease(
  Effect.map(
    Effect.promise(() => import("node:https")),
    (module) => ({ module, agent: new module.Agent(agentOptions) }),
  ),
  ({ agent }) => Effect.sync(() => agent.destroy()),
)

/** Creates the HTTP side of model providers. Its connections end with the scope (L8). */
export const make: Effect.Effect<ProviderHttp, never, Scope.Scope> = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new http.Agent(agentOptions)),
    (acquired) => Effect.sync(() => acquired.destroy()),
  )
  const opener = makeOpener()
  // Loaded once: a cached effect starts anew when its only caller is interrupted.
  const secure = Effect.uninterruptible(
    yield* Effect.cached(Effect.provideService(loadSecure, Scope.Scope, scope)),
  )
  return {
    post: (request) =>
      request.url.protocol === "https:"
        ? Effect.map(
            secure,
            (https) => new NodeExchange(opener(https.module, https.agent, request.url), request),
          )
        : Effect.sync(() => new NodeExchange(opener(http, agent, request.url), request)),
  }
})
