/** The nodes of a cluster on one database, each a process of the built program, and a client that asks any of them. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Home from "../support/Home.ts"
import { type HttpProcess, startHttp } from "../support/HttpProcess.ts"

/** A server that listens. */
export interface ServerNode {
  readonly server: HttpProcess
  readonly url: string
}

/** A response, and the server that gave it. */
export interface Reply {
  readonly status: number
  readonly body: { readonly [member: string]: unknown }
  readonly url: string
}

/** See the header. */
export interface ServerNodes {
  readonly token: string
  /** State directory of all servers. */
  readonly home: string
  /** Directory in which commands run. */
  readonly cwd: string
  readonly all: () => ReadonlyArray<ServerNode>
  /** Starts one more server. Resolves when it listens. */
  readonly start: Effect.Effect<ServerNode>
  /** The same with more arguments of `serve`. */
  readonly startWith: (...args: ReadonlyArray<string>) => Effect.Effect<ServerNode>
  /** Kills a server, and resolves when it has ended. */
  readonly kill: (node: ServerNode) => Effect.Effect<void>
  /**
   * Sends a request to the servers in turn, until one of them responds with anything but that it cannot do it now. Dies after
   * `patienceMs`.
   *
   * @param json body of a POST; without it the request is a GET
   * @param first the server that is asked first
   */
  readonly ask: (path: string, json?: unknown, first?: ServerNode) => Effect.Effect<Reply>
}

const patienceMs = 40_000

/** A server that is stopped responds to nothing. */
const attemptMs = 8000

const retryMs = 50

/** The response; undefined where the server did not give one. */
const send = async (url: string, token: string, json: unknown): Promise<Reply | undefined> => {
  try {
    const response = await fetch(url, {
      redirect: "manual",
      signal: AbortSignal.timeout(attemptMs),
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(json === undefined ? {} : { method: "POST", body: JSON.stringify(json) }),
    })
    const text = await response.text()
    const body = (text === "" ? {} : JSON.parse(text)) as Reply["body"]
    const { status } = response
    return { status, body, url }
  } catch {
    return undefined
  }
}

/** It may be possible a moment later, or elsewhere. */
const isPassing = ({ body, status }: Reply): boolean => status >= 500 || body["code"] === "in_use"

/** The addresses, again and again, beginning with any of them. */
function* inTurns(urls: () => ReadonlyArray<string>, first: ServerNode | undefined) {
  if (first !== undefined) yield first.url
  for (let turn = Math.floor(Math.random() * 100); ; turn++) {
    const all = urls()
    yield all[turn % all.length]
  }
}

const ask = async (
  addresses: Iterable<string | undefined>,
  token: string,
  path: string,
  json: unknown,
): Promise<Reply> => {
  const until = Date.now() + patienceMs
  let last: unknown
  for (const url of addresses) {
    if (Date.now() > until) break
    const reply = url === undefined ? undefined : await send(`${url}${path}`, token, json)
    if (reply !== undefined && !isPassing(reply))
      return { ...reply, url: new URL(reply.url).origin }
    last = reply ?? last
    await new Promise((done) => setTimeout(done, retryMs))
  }
  throw new Error(`${path}: no server responded in time: ${JSON.stringify(last)}`)
}

/**
 * Starts the servers. They are killed with the scope.
 *
 * @param config more lines of `config.toml`
 */
export const startNodes = Effect.fnUntraced(function* (
  database: string,
  count: number,
  ...config: ReadonlyArray<string>
): Effect.fn.Return<ServerNodes, never, Scope.Scope> {
  const home = yield* Home.home({ "config.toml": config.join("\n") })
  const cwd = yield* Home.directory()
  const scope = yield* Effect.scope
  const alive = new Set<ServerNode>()
  const started = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const options = ["--listen", "http://127.0.0.1:0", "--cluster", database, ...args]
    const server = yield* startHttp(home, ["serve", ...options], cwd)
    const node = { server, url: yield* server.url }
    alive.add(node)
    return node
  })
  const startWith = (...args: ReadonlyArray<string>) => Scope.provide(started(...args), scope)
  const start = startWith()
  // The first one creates the token.
  for (let begun = 0; begun < count; begun++) yield* start
  const urls = () => [...alive].map(({ url }) => url)
  const tokenOf = () => readFileSync(join(home, "http-token"), "utf8").trim()
  return {
    get token() {
      return tokenOf()
    },
    home,
    cwd,
    all: () => [...alive],
    start,
    startWith,
    kill: (node) =>
      Effect.suspend(() => {
        alive.delete(node)
        return Effect.andThen(node.server.kill("SIGKILL"), Effect.asVoid(node.server.exit))
      }),
    ask: (path, json, first) =>
      Effect.promise(() => ask(inTurns(urls, first), tokenOf(), path, json)),
  }
})
