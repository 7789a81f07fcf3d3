/**
 * The entry of `npm run bench`: lists the benchmarks or runs one and prints its table. A missed aim is a line in the
 * table and no failure. Exit codes: 0 done, 1 it could not run, 2 the command line is wrong.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { type Invocation, parse } from "./Arguments.ts"
import * as AppServer from "./AppServer.ts"
import * as Cluster from "./Cluster.ts"
import * as Conversations from "./Conversations.ts"
import * as Core from "./Core.ts"
import * as Exec from "./Exec.ts"
import * as Http from "./Http.ts"
import * as Mcp from "./Mcp.ts"
import * as Machine from "./Machine.ts"
import * as Soak from "./Soak.ts"
import * as Stdio from "./Stdio.ts"
import * as Store from "./Store.ts"
import * as Table from "./Table.ts"
import * as User from "./User.ts"

const about = {
  "app-server":
    "the built program's plain JSON-RPC: requests, events to 1, 8 and 64 listeners, both versions beside each other",
  cluster: "nodes of a cluster on a PostgreSQL database: turns, what a node's end costs, sizes",
  conversations:
    "1 to 100,000 conversations of one process, one after the other: rate, slowest, memory",
  core: "the conversations alone: memory when idle, events to listeners, a long log, making and ending",
  exec: "commands in and out of the sandbox, their output, patches and their differences",
  http: "MCP over HTTP beside the servers of the official SDK and of Effect: calls, first event, sessions",
  mcp: "the MCP server beside the official SDK's and Effect's: start, calls, notifications, memory",
  soak: "1,000 listeners over HTTP, one in ten of which never reads, while servers are killed",
  stdio: "the built program over its standard streams: start, turns, deltas, pings",
  store: "stored conversations: appends, coming back, lists, what they take on the disk",
  user: "turns and conversations as users have them, beside plain Node and other servers (`--peer`)",
} as const

const usage = `Benchmarks, for \`npm run bench -- <name>\`:

${Object.entries(about)
  .map(([name, text]) => `  ${name.padEnd(13)}  ${text}`)
  .join("\n")}

Options: \`--quick\` only shows that it runs; \`--bin <path>\` measures another build's entry (\`app-server\`, \`cluster\`, \`mcp\`, \`soak\`, \`stdio\`, \`user\`).
\`user\` alone: \`--peer '<command line>'\`, repeatable, measures another server; \`--runs <number>\`; \`--json <file>\`
stores the figures; \`--write\` puts them in packages/docs/benchmarks.md.
`

const print = (text: string) => Effect.sync(() => process.stdout.write(text))

const leave = (code: number, complaint: string) =>
  Effect.sync(() => {
    process.stderr.write(`bench: ${complaint}\n`)
    process.exitCode = code
  })

const run = Effect.fn("bench.run")(function* (rows: Effect.Effect<ReadonlyArray<Table.Row>>) {
  yield* print(`${Machine.describe()}\n\n`)
  yield* print(`${Table.render(yield* rows)}\n`)
})

/** What only `user` understands. */
const userOnly = ["peers", "runs", "json", "write"] as const

const runUser = (invocation: Extract<Invocation, { readonly _tag: "Run" }>) => {
  const { bin = Stdio.entry, json, peers = [], quick, runs, write = false } = invocation
  if (!existsSync(bin)) return leave(1, `${bin} is missing, run \`npm run build\``)
  const counts = quick ? User.quick : User.full
  return User.user(
    { ...counts, runs: runs ?? counts.runs },
    { bin, peers, write, ...(json === undefined ? {} : { json }) },
  ).pipe(Effect.flatMap((text) => print(`${text}\n`)))
}

/** Benchmarks of the built program. */
const built = {
  "app-server": (quick: boolean, bin: string) =>
    AppServer.appServer(quick ? AppServer.quick : AppServer.full, bin),
  cluster: (quick: boolean, bin: string) =>
    Cluster.cluster(quick ? Cluster.quick : Cluster.full, bin),
  mcp: (quick: boolean, bin: string) => Mcp.mcp(quick ? Mcp.quick : Mcp.full, bin),
  soak: (quick: boolean, bin: string) => Soak.soak(quick ? Soak.quick : Soak.full, bin),
  stdio: (quick: boolean, bin: string) => Stdio.stdio(quick ? Stdio.quick : Stdio.full, bin),
} as const

const isBuilt = (name: string): name is keyof typeof built => Object.hasOwn(built, name)

const runBuilt = (name: keyof typeof built, quick: boolean, bin: string) =>
  existsSync(bin)
    ? run(built[name](quick, bin))
    : leave(1, `${bin} is missing, run \`npm run build\``)

const main = Effect.suspend((): Effect.Effect<unknown> => {
  const invocation = parse(process.argv.slice(2), Object.keys(about))
  switch (invocation._tag) {
    case "List":
      return print(usage)
    case "Unclear":
      return leave(2, `${invocation.message}; \`npm run bench\` shows what there is`)
    case "Run": {
      const { name, quick, bin } = invocation
      if (name === "user") return runUser(invocation)
      if (userOnly.some((option) => invocation[option] !== undefined)) {
        return leave(
          2,
          "`--peer`, `--runs`, `--json` and `--write` are for `user`; `npm run bench` shows what there is",
        )
      }
      if (isBuilt(name)) return runBuilt(name, quick, bin ?? Stdio.entry)
      if (bin !== undefined) {
        return leave(
          2,
          `\`--bin\` is for \`app-server\`, \`cluster\`, \`mcp\`, \`soak\`, \`stdio\` and \`user\`: ${name} is measured from its source`,
        )
      }
      if (name === "http") return run(Http.http(quick ? Http.quick : Http.full))
      if (name === "store") return run(Store.store(quick ? Store.quick : Store.full))
      if (name === "conversations") {
        return run(Conversations.conversations(quick ? Conversations.quick : Conversations.full))
      }
      return name === "exec"
        ? run(Exec.exec(quick ? Exec.quick : Exec.full))
        : run(Core.core(quick ? Core.quick : Core.full))
    }
  }
})

/** Why the benchmark has no figures. */
const failureOf = (cause: Cause.Cause<unknown>): string =>
  Cause.hasInterruptsOnly(cause) ? "bench: interrupted before it was done" : Cause.pretty(cause)

// The default ends the process at once, and leaves its servers behind.
process.once("SIGHUP", () => process.kill(process.pid, "SIGTERM"))

// A failure is printed to stderr, also that of an interrupt: stdout has the figures.
NodeRuntime.runMain(
  Effect.onError(main, (cause) => Effect.sync(() => process.stderr.write(`${failureOf(cause)}\n`))),
  { disableErrorReporting: true },
)
