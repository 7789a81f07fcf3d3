/**
 * The commands that listen on a port: `serve`, and `mcp` and `app-server` with `--listen`. They serve until a signal.
 *
 * Exit codes: 1 the configuration is not valid or the server cannot listen, 129, 130 and 143 after a signal. The address and,
 * once, the token are printed on stdout; the log is on stderr and never contains a token.
 */
import { knownToken, Principals } from "@colloquy/transport-http/guard/Principals"
import { localPrincipal } from "@colloquy/protocol/Connection"
import * as Draining from "@colloquy/transport-http/guard/Draining"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as References from "effect/References"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Application from "../Application.ts"
import type { Invocation, Served } from "../args/Args.ts"
import type { HttpOptions } from "../args/HttpOptions.ts"
import { configuredCluster, type ConfiguredCluster } from "../cluster/ConfiguredCluster.ts"
import { principalsOf } from "../http/AccessTokenSettings.ts"
import { bindProblem, hostWarning } from "../http/BindPolicy.ts"
import * as HttpServer from "../http/HttpServer.ts"
import type { HttpServing } from "../http/HttpServer.ts"
import { publishedUrl } from "../http/PublicAddress.ts"
import * as PrincipalsFile from "../http/PrincipalsFile.ts"
import { servedHttp } from "../http/ServedHttp.ts"
import { type StateToken, tokenOf } from "../http/TokenFile.ts"
import { errorLine } from "../log/ErrorLine.ts"
import * as ProcessGuard from "../machine/ProcessGuard.ts"
import { start, type Started } from "../server/Started.ts"
import { oneLine } from "@colloquy/protocol/text/Shortened"

type ServeInvocation = Extract<Invocation, { readonly _tag: "Serve" }>

/** Time limit of a shutdown: twelve seconds for the tools of the slowest turn, and the end of the connections. */
const shutdownSlackMs = 20_000

/**
 * Time of a node after its turns, for clients that do not read. With 25 seconds for turns it is the 30 seconds that
 * Kubernetes gives.
 */
const nodeSlackMs = 4_000

/** Time after which a node ends in any case: what waits in bounded time for a database that does not respond has ended. */
const maxNodeSlackMs = 8_000

/** How long the end of a server waits for its clients, and for everything. */
const shutdownBounds = (
  graceMs: number,
  drainMs: number | undefined,
): { readonly endWithinMs?: number; readonly maxShutdownMs: number } =>
  drainMs === undefined
    ? { maxShutdownMs: graceMs + shutdownSlackMs }
    : {
        endWithinMs: graceMs + drainMs + nodeSlackMs,
        maxShutdownMs: graceMs + drainMs + maxNodeSlackMs,
      }

/** Names in the rollout files of conversations that are created. */
const programs: Readonly<Record<Served, Application.Program>> = {
  all: { originator: "colloquy_server", source: "vscode" },
  mcp: { originator: "colloquy_mcp", source: "mcp" },
  "app-server": { originator: "colloquy_app_server", source: "vscode" },
}

const clientLine = (served: Served, url: string, token: string): string =>
  served === "app-server"
    ? `Connect a WebSocket to ${url} with the header \`Authorization: Bearer ${token}\``
    : `claude mcp add --transport http colloquy ${url}/mcp --header "Authorization: Bearer ${token}"`

const greeting = (served: Served, url: string, state: StateToken | undefined): string => {
  const lines = [`Listening on ${url}`]
  if (state?.isNew === true) {
    lines.push(
      `A token was created. It is shown once and kept in ${state.path}. For a client:`,
      `  ${clientLine(served, url, state.token)}`,
    )
  } else if (state !== undefined) {
    lines.push(`Clients need the token in ${state.path}`)
  }
  return lines.map((line) => `${line}\n`).join("")
}

/** What the server listens with. */
interface Prepared {
  readonly options: HttpOptions
  /** Undefined if every request acts for the user of the server. */
  readonly token: StateToken | undefined
  readonly principals: PrincipalsFile.PrincipalsFile | undefined
}

/** The problem that keeps the server from listening, or what it listens with. */
const prepare = async (
  invocation: ServeInvocation,
  { environment, startup }: Started,
): Promise<string | Prepared> => {
  const loaded = servedHttp(startup.source.tree)
  if (Result.isFailure(loaded)) return `error loading config: ${oneLine(loaded.failure.message)}`
  const options = loaded.success
  const problem = bindProblem(invocation.address, options)
  if (problem !== undefined) return problem
  if ((options.authentication ?? "token") !== "token") {
    return { options, token: undefined, principals: undefined }
  }
  const { stateDirectory } = environment
  const found = await Effect.runPromiseExit(
    Effect.all([tokenOf(stateDirectory), PrincipalsFile.open(stateDirectory)]),
  )
  if (Exit.isFailure(found)) return lineOf(found.cause)
  const [token, principals] = found.value
  return { options, token, principals }
}

/** The message of an expected error, which is one line, and a defect with its name. */
const lineOf = (cause: Cause.Cause<{ readonly message: string }>): string =>
  Option.match(Cause.findErrorOption(cause), {
    onNone: () => errorLine(Cause.squash(cause)),
    onSome: ({ message }) => message,
  })

const program = (
  { address, served }: ServeInvocation,
  started: Started,
  { options, principals, token }: Prepared,
  { endWithinMs, onEnding, stopped }: Pick<HttpServing, "endWithinMs" | "onEnding" | "stopped">,
  cluster: ConfiguredCluster | undefined,
) => {
  let published: string | undefined
  return Effect.flatMap(Draining.make, (drain) =>
    HttpServer.serve({
      served,
      address,
      options,
      started,
      principals:
        token === undefined
          ? Principals.layerLocal
          : principalsOf(options, knownToken(token.token, localPrincipal), principals),
      drain,
      stopped,
      endWithinMs,
      onEnding,
      onListening: (url) => {
        published = publishedUrl(served, address, options, url)
        process.stdout.write(greeting(served, url, token))
      },
    }),
  ).pipe(
    Application.provided(
      programs[served],
      { ...started, close: Effect.void, measures: true, url: () => published },
      principals,
      cluster?.place,
    ),
    Effect.provideService(References.TracerEnabled, false),
  )
}

/** Ends the process on a signal within a bound. What its server needs for this, and the exit code of the process. */
const guard = ({ startup, write }: Started, cluster: ConfiguredCluster | undefined) => {
  const stopped = Latch.makeUnsafe(false)
  const graceMs = startup.options.shutdown_grace_ms ?? HttpServer.defaultGraceMs
  const { endWithinMs, maxShutdownMs } = shutdownBounds(graceMs, cluster?.drainMs)
  let awaited: string | undefined
  const exitCode = ProcessGuard.install({
    stop: () => {
      stopped.openUnsafe()
    },
    write,
    maxShutdownMs,
    waitsFor: () => awaited,
  })
  const onEnding = (what: string) => {
    awaited = what
  }
  return { exitCode, serving: { stopped: stopped.await, endWithinMs, onEnding } }
}

/** Serves until a signal and then ends the process. Resolves only if the server could not start. */
export const run = async (invocation: ServeInvocation): Promise<number> => {
  // All its errors begin alike.
  const started = await start(invocation, { errorOf: (message) => `colloquy: ${message}` })
  if (started === undefined) return 1
  const { write } = started
  const prepared = await prepare(invocation, started)
  if (typeof prepared === "string") {
    write(`colloquy: ${prepared}`)
    return 1
  }
  const cluster = await configuredCluster(started)
  if (typeof cluster === "string") {
    write(`colloquy: ${cluster}`)
    return 1
  }
  for (const warning of [hostWarning(invocation.address, prepared.options), cluster?.warning]) {
    if (warning !== undefined) write(`colloquy: ${warning}`)
  }
  const { exitCode, serving } = guard(started, cluster)
  const exit = await Effect.runPromiseExit(program(invocation, started, prepared, serving, cluster))
  if (Exit.isFailure(exit)) write(`colloquy: ${lineOf(exit.cause)}`)
  // Exits explicitly: an open connection or a timer must not keep the process alive (L8).
  return process.exit(Exit.isFailure(exit) ? 1 : exitCode())
}
