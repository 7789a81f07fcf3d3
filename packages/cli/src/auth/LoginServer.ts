/**
 * The loopback server that receives the authorization code from the browser. It listens only on 127.0.0.1, for one login,
 * and accepts a code only together with that login's state. Every other request, whatever its bytes, gets an error and
 * changes nothing (L13): the port is open to every program of the machine and to every page of a browser.
 */
import { AuthFailed } from "@colloquy/server/app/ports/AuthPort"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { timingSafeEqual } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { codeOf } from "../config/ConfigFile.ts"

const host = "127.0.0.1"
const callbackPath = "/auth/callback"
/** How long a client may take to send its request, which is one line and a few headers. */
const requestTimeoutMs = 10_000

/** A listening server. */
export interface LoginServer {
  /** The address that the issuer redirects the browser to. */
  readonly redirectUri: string
  /** Resolves with the code of the login with this state; fails if the issuer redirected with an error. */
  readonly code: (state: string) => Effect.Effect<string, AuthFailed>
}

const fail = (message: string) => new AuthFailed({ message })

const page = (title: string, text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p>`

type Reply = readonly [status: number, title: string, text: string]

const reply = (response: ServerResponse, status: number, title: string, text: string): void => {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "no-referrer",
    connection: "close",
  })
  response.end(page(title, text))
}

const same = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** False for a request under another host name: a page could reach this port by DNS rebinding. */
const hasLoopbackHost = (request: IncomingMessage, port: number): boolean =>
  [`localhost:${port}`, `${host}:${port}`].includes(request.headers.host ?? "")

/** The error code of the redirect, if it has the form of one; anything else is not repeated. */
const errorCode = (text: string): string => (/^[\w.-]{1,64}$/.test(text) ? text : "unknown error")

/**
 * The path and the query of a request's target. Never throws, unlike `new URL`: a target such as `//` is no URL, and an
 * invalid percent escape is kept as it is.
 */
const targetOf = (request: IncomingMessage): readonly [path: string, query: URLSearchParams] => {
  const target = request.url ?? ""
  const at = target.indexOf("?")
  return at === -1
    ? [target, new URLSearchParams()]
    : [target.slice(0, at), new URLSearchParams(target.slice(at + 1))]
}

/** What the server waits for. */
interface Waiting {
  /** Zero until the server listens, if it takes any free port. */
  port: number
  /** State of the login in progress, if any. */
  state?: string
  readonly outcome: Deferred.Deferred<string, AuthFailed>
}

const replyToCallback = (
  query: URLSearchParams,
  state: string,
  outcome: Waiting["outcome"],
): Reply => {
  if (!same(query.get("state") ?? "", state)) {
    return [400, "Another login", "This address belongs to another login attempt."]
  }
  const error = query.get("error")
  if (error !== null) {
    Deferred.doneUnsafe(outcome, fail(`the issuer refused: ${errorCode(error)}`))
    return [200, "Not logged in", "The issuer refused the login. You can close this window."]
  }
  const code = query.get("code")
  if (code === null || code === "") return [400, "No code", "This address contains no code."]
  Deferred.doneUnsafe(outcome, Effect.succeed(code))
  return [200, "Logged in", "You can close this window."]
}

const replyTo = (request: IncomingMessage, { outcome, port, state }: Waiting): Reply => {
  if (!hasLoopbackHost(request, port)) {
    return [403, "Forbidden", "This server does not serve the requested host."]
  }
  const [path, query] = targetOf(request)
  if (request.method !== "GET" || path !== callbackPath) {
    return [404, "Not found", "There is no page at this address."]
  }
  if (state === undefined) return [400, "No login", "No login is in progress."]
  return replyToCallback(query, state, outcome)
}

const listen = (server: Server, port: number) =>
  Effect.callback<number, AuthFailed>((resume) => {
    server.once("error", (error) => {
      resume(fail(`cannot listen on port ${port} (${codeOf(error)})`))
    })
    server.listen(port, host, () => {
      const address = server.address()
      resume(
        typeof address === "object" && address !== null
          ? Effect.succeed(address.port)
          : fail("the server has no port"),
      )
    })
  })

const close = (server: Server) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** Listens until the scope closes. @param port 0 takes any free one */
export const make = Effect.fnUntraced(function* (
  port: number,
): Effect.fn.Return<LoginServer, AuthFailed, Scope.Scope> {
  const outcome = yield* Deferred.make<string, AuthFailed>()
  const waiting: Waiting = { port, outcome }
  const fork = Effect.runForkWith(yield* Effect.context())
  const logFailed = (what: string, fault: unknown) => {
    fork(Effect.logWarning(`${what} to the login server failed`, fault))
  }
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    // An exception that is thrown here would end the process: Node does not catch it.
    try {
      reply(response, ...replyTo(request, waiting))
    } catch (defect) {
      logFailed("a request", defect)
      response.destroy()
    }
  })
  // Kept for the server's lifetime: an error event without a handler (no file handle left, say) would end the process.
  server.on("error", (error) => logFailed("a connection", error))
  yield* Effect.addFinalizer(() => close(server))
  waiting.port = yield* listen(server, port)
  return {
    redirectUri: `http://localhost:${waiting.port}${callbackPath}`,
    code: (state) =>
      Effect.suspend(() => {
        waiting.state = state
        return Deferred.await(outcome)
      }),
  }
})
