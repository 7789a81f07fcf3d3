/**
 * The loopback server that the browser comes back to with a code. It listens on 127.0.0.1 alone, for one attempt, and
 * takes a code only with that attempt's state. Every other request gets an error, whatever its bytes are, and changes
 * nothing (L13): the port is open to every program of the machine and to every page of a browser.
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
/** A request is one line and some headers; a browser sends nothing more. */
const requestTimeoutMs = 10_000

export interface LoginServer {
  readonly redirectUri: string
  /** Waits for the code; fails when the issuer sent the person back with an error. */
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

/** A name that leads here from another site's page is not ours. */
const isOurs = (request: IncomingMessage, port: number): boolean =>
  [`localhost:${port}`, `${host}:${port}`].includes(request.headers.host ?? "")

/** OAuth's error codes are words; what else a stranger puts there is not repeated. */
const errorCode = (text: string): string => (/^[\w.-]{1,64}$/.test(text) ? text : "unknown error")

/**
 * The path and the query of a request's target. Total, unlike `new URL`: a target such as `//` is no URL, and a broken
 * percent escape stays as it is.
 */
const targetOf = (request: IncomingMessage): readonly [path: string, query: URLSearchParams] => {
  const target = request.url ?? ""
  const at = target.indexOf("?")
  return at === -1
    ? [target, new URLSearchParams()]
    : [target.slice(0, at), new URLSearchParams(target.slice(at + 1))]
}

const answer = (
  query: URLSearchParams,
  state: string,
  outcome: Deferred.Deferred<string, AuthFailed>,
): Reply => {
  if (!same(query.get("state") ?? "", state)) {
    return [400, "Not this login", "The address belongs to another attempt to log in."]
  }
  const error = query.get("error")
  if (error !== null) {
    Deferred.doneUnsafe(outcome, fail(`the issuer refused: ${errorCode(error)}`))
    return [200, "Not logged in", "The login was refused. This window can be closed."]
  }
  const code = query.get("code")
  if (code === null || code === "") return [400, "No code", "The address has no code."]
  Deferred.doneUnsafe(outcome, Effect.succeed(code))
  return [200, "Logged in", "This window can be closed."]
}

const listen = (server: Server, port: number) =>
  Effect.callback<number, AuthFailed>((resume) => {
    server.once("error", (error) => {
      resume(fail(`port ${port} cannot be listened on (${codeOf(error)})`))
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

/** Listens until the scope closes. @param port 0 for any that is free */
export const make = Effect.fnUntraced(function* (
  port: number,
): Effect.fn.Return<LoginServer, AuthFailed, Scope.Scope> {
  const outcome = yield* Deferred.make<string, AuthFailed>()
  const waiting: { state?: string; port: number } = { port }
  const fork = Effect.runForkWith(yield* Effect.context())
  const logFailed = (what: string, fault: unknown) => {
    fork(Effect.logWarning(`${what} at the login's port failed`, fault))
  }
  const serve = (request: IncomingMessage): Reply => {
    if (!isOurs(request, waiting.port)) return [403, "Not here", "Another host was asked for."]
    const [path, query] = targetOf(request)
    if (request.method !== "GET" || path !== callbackPath) {
      return [404, "Not here", "There is nothing at this address."]
    }
    if (waiting.state === undefined) return [400, "Not yet", "No login is under way."]
    return answer(query, waiting.state, outcome)
  }
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    // Node has nothing to catch what is thrown here: it would end the process.
    try {
      reply(response, ...serve(request))
    } catch (defect) {
      logFailed("a request", defect)
      response.destroy()
    }
  })
  // After the port is open too: an error without a listener, as when no file handle is left, ends the process.
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
