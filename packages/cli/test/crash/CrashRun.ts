/**
 * Owns one state directory and the server processes that run on it, one after the other. During each server run the client
 * checks what the earlier processes left behind, gives the server work, and kills it at a moment that the seed chooses.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { awaitGone } from "../support/Processes.ts"
import * as Server from "../support/Server.ts"
import * as ClientActions from "./ClientActions.ts"
import * as Commands from "./Commands.ts"
import * as SeededDraws from "./SeededDraws.ts"
import type { Logs } from "./Logs.ts"
import { rollouts } from "./Rollout.ts"
import * as Received from "./Received.ts"

interface CrashRun {
  readonly draws: SeededDraws.SeededDraws
  readonly home: string
  readonly logs: Logs
  readonly cwd: string
  readonly received: Received.Received
  readonly sleepers: Map<string, string>
  /** Whether a turn that a kill interrupted is continued after the restart, in `maxAttempts` server runs at most. */
  readonly continuesTurns: boolean
  early: number
  duringCommand: number
}

/** Totals of one crash run, over all of its server processes. */
export interface Tally {
  readonly kills: number
  /** Kills that came before the checks at the start of the server run had finished. */
  readonly early: number
  /** Kills while a command was running whose output the client had already received. */
  readonly duringCommand: number
  readonly conversations: number
  readonly inputs: number
  readonly events: number
  /** Commands whose end with exit code 0 was recorded. */
  readonly commands: number
}

const maxAttempts = 3

/** A violation that was found. `run` adds the seed, the number of the server run and the path of the state directory. */
export class LawViolated extends Data.TaggedError("LawViolated")<{ readonly message: string }> {}

const violated = (message: string) => new LawViolated({ message })

const initialize = {
  ...Server.initialize,
  params: { ...Server.initialize.params, capabilities: { elicitation: {} } },
}

/** Kills the process immediately, even in the middle of a write. */
const kill = ({ child }: Server.Server) => Effect.sync(() => child.kill("SIGKILL"))

/**
 * Resolves at the moment of the kill: a random number of milliseconds, of characters or of lines of server output after
 * the work began. Characters and lines are awaited for less than 300 ms.
 */
const untilKill = ({ draws }: CrashRun, { child, frames }: Server.Server): Effect.Effect<void> => {
  const [kind, size] = draws.pick([
    ["delay", draws.below(60)],
    ["delay", draws.below(250)],
    ["lines", 1 + draws.below(40)],
    ["chars", draws.below(20_000)],
    ["chars", draws.below(600_000)],
  ] as const)
  const atMost = Effect.sleep(150 + draws.below(150))
  if (kind === "delay") return Effect.sleep(size)
  const begun = frames.length
  let chars = 0
  const arrived = Effect.callback<void>((resume) => {
    const onData = (text: string) => {
      chars += text.length
      const reached = kind === "lines" ? frames.length - begun : chars
      if (reached >= size) resume(Effect.void)
    }
    child.stdout.on("data", onData)
    return Effect.sync(() => child.stdout.off("data", onData))
  })
  return Effect.raceFirst(arrived, atMost)
}

/** Records every event of the server as soon as it arrives. */
const listen = (server: Server.Server, { received }: CrashRun, serverRun: number): void => {
  let read = 0
  server.child.stdout.on("data", () => {
    for (const frame of server.frames.slice(read)) {
      if (frame.method !== "codex/event") continue
      const call = String(frame.params?._meta?.requestId)
      received.event(frame, `${serverRun}/${call}`)
    }
    read = server.frames.length
  })
}

const onDisk = ({ logs, received }: CrashRun): ReadonlyArray<string> => [
  ...received.open,
  ...logs.ids().filter((id) => !received.conversations.has(id)),
]

/** Checks that the next turn of each conversation works, including conversations that the client never learned of. */
const replies = (crashRun: CrashRun, { number, server, received }: ClientActions.ServerRun) =>
  Effect.forEach(
    new Set(onDisk(crashRun)),
    Effect.fnUntraced(function* (thread) {
      const call = `check-${number}-${thread}`
      const words = `check ${number}.`
      server.call(call, "codex-reply", { threadId: thread, prompt: `say ${words}` })
      const text = Server.textOf(yield* server.answer(call))
      // The process was killed while it created this conversation: no client received its id, and the first lines of
      // its file are incomplete.
      if (!received.conversations.has(thread) && text?.startsWith("Session not found") === true)
        return
      if (text !== words) throw violated(`codex-reply of ${thread} says: ${text}`)
      received.of(thread).inputs.add(`say ${words}`)
    }),
    { concurrency: 4, discard: true },
  )

/** Compares what is stored with what the client received. Returns the numbers of events and of commands that are stored. */
const compare = (
  { cwd, continuesTurns, logs, received }: CrashRun,
  ids: Iterable<string>,
): Pick<Tally, "events" | "commands"> => {
  const all = [...ids]
  const stored = logs.read(all)
  const completed: Array<string> = []
  let events = 0
  for (const id of all) {
    const log = stored.get(id)
    if (log === undefined) throw violated(`conversation ${id} is missing`)
    const judged = log.judge()
    const faults = [
      ...judged.faults,
      ...Received.contradictions(received.of(id), judged, log.bytes),
    ]
    if (faults.length > 0) throw violated(`${log.place}:\n  ${faults.join("\n  ")}`)
    events += judged.events.length
    completed.push(...Commands.completedIn(judged.events))
  }
  // With `on_restart = "continue"` the client accepts the question whether the command may run again.
  const wrong = Commands.wrongTimes(cwd, completed, continuesTurns ? maxAttempts : 1)
  if (wrong.length > 0) throw violated(wrong.join("\n  "))
  return { events, commands: completed.length }
}

/** Remembers the whole records after a process has exited: no later process may change them. */
const noteLogs = ({ logs, received }: CrashRun): void => {
  for (const [id, { whole }] of logs.read(received.open)) {
    const { lines } = received.of(id)
    lines.splice(0, lines.length, whole)
  }
}

/** Declines to run a long-running command again during the checks, and accepts every other question. */
const actionDuringChecks =
  ({ sleepers }: CrashRun) =>
  (question: Server.Frame) => {
    const text = JSON.stringify(question)
    return [...sleepers.values()].some((seconds) => text.includes(seconds)) ? "decline" : "accept"
  }

/** Checks that no command of a killed server is still running. */
const commandsEnded = Effect.fnUntraced(function* ({ sleepers }: CrashRun) {
  for (const seconds of sleepers.values()) {
    const left = yield* Effect.promise(() => awaitGone([], seconds))
    if (left.length > 0)
      throw violated(`processes ${left.join(", ")} of a killed server are still running`)
  }
  sleepers.clear()
})

const started = Effect.fnUntraced(function* (crashRun: CrashRun, number: number) {
  const server = yield* Server.start({ home: crashRun.home, mayBreakOff: true })
  const { cwd, draws, sleepers, received } = crashRun
  listen(server, crashRun, number)
  return { server, received, draws, number, cwd, sleepers } satisfies ClientActions.ServerRun
})

/**
 * Checks that the server initializes, that its files still hold everything the client received, and that no process of
 * an earlier server is running.
 */
const checked = Effect.fnUntraced(function* (
  crashRun: CrashRun,
  serverRun: ClientActions.ServerRun,
) {
  serverRun.server.send(initialize)
  yield* serverRun.server.answer("initialize")
  yield* Effect.raceFirst(
    replies(crashRun, serverRun),
    ClientActions.answerQuestions(serverRun, actionDuringChecks(crashRun)),
  )
  compare(crashRun, crashRun.received.open)
  crashRun.received.open.clear()
  yield* commandsEnded(crashRun)
})

/** One server run: starts a server, checks it, gives it work and kills it. */
const runServer = (crashRun: CrashRun, number: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    const isEarly = crashRun.draws.chance(0.2)
    const serverRun = yield* started(crashRun, number)
    if (isEarly) {
      const killTime = Effect.sleep(100 + crashRun.draws.below(500))
      const isKilled = Effect.as(killTime, true)
      if (yield* Effect.raceFirst(Effect.as(checked(crashRun, serverRun), false), isKilled))
        crashRun.early++
    } else {
      yield* checked(crashRun, serverRun)
      const hasSleeper = crashRun.draws.chance(0.15)
      const prepared = hasSleeper ? ClientActions.startSleeper(serverRun) : Effect.void
      const killTime = Effect.andThen(prepared, untilKill(crashRun, serverRun.server))
      yield* Effect.raceFirst(ClientActions.run(serverRun), killTime)
      if (hasSleeper) crashRun.duringCommand++
    }
    yield* kill(serverRun.server)
    yield* serverRun.server.exit
    noteLogs(crashRun)
  }).pipe(Effect.scoped)

/** The last server run checks every conversation once more and exits regularly when its input ends. */
const runLastServer = (crashRun: CrashRun, number: number) =>
  Effect.gen(function* () {
    const serverRun = yield* started(crashRun, number)
    for (const id of crashRun.received.conversations.keys()) crashRun.received.open.add(id)
    yield* checked(crashRun, serverRun)
    serverRun.server.child.stdin.end()
    const { code } = yield* serverRun.server.exit
    if (code !== 0) throw violated(`the last server exited with ${code}`)
    return compare(crashRun, crashRun.received.conversations.keys())
  }).pipe(Effect.scoped)

/** A place for the conversations of one crash run that is not the state directory. */
export interface Place {
  /** Value of `conversation_store`. */
  readonly store: string
  readonly logs: Logs
}

/**
 * @param seed seed of every draw; even seeds run with `on_restart = "continue"`
 * @param place where the conversations are stored; default: the state directory
 */
export const run = (
  seed: number,
  kills: number,
  place?: Place,
): Effect.Effect<Tally, LawViolated> =>
  Effect.gen(function* () {
    const home = mkdtempSync(join(tmpdir(), "colloquy-crash-"))
    const cwd = join(home, "work")
    mkdirSync(cwd)
    const continuesTurns = seed % 2 === 0
    const config = [
      'model_provider = "offline"',
      ...(continuesTurns ? ['on_restart = "continue"'] : []),
      ...(place === undefined ? [] : [`conversation_store = ${JSON.stringify(place.store)}`]),
    ]
    writeFileSync(join(home, "config.toml"), config.join("\n"))
    const crashRun: CrashRun = {
      draws: SeededDraws.make(seed),
      home,
      logs: place?.logs ?? rollouts(home),
      cwd,
      received: Received.make(),
      sleepers: new Map(),
      continuesTurns,
      early: 0,
      duringCommand: 0,
    }
    let number = 0
    const stored = yield* Effect.gen(function* () {
      for (; number < kills; number++) yield* runServer(crashRun, number)
      return yield* runLastServer(crashRun, number)
    }).pipe(
      // A failure keeps the files for inspection.
      Effect.catchCause((cause) =>
        Effect.fail(
          violated(`seed ${seed}, server run ${number}, ${home}:\n${Cause.pretty(cause)}`),
        ),
      ),
    )
    rmSync(home, { recursive: true, maxRetries: 10, force: true })
    const known = [...crashRun.received.conversations.values()]
    const inputs = known.reduce((sum, one) => sum + one.inputs.size, 0)
    const { early, duringCommand } = crashRun
    return { kills, early, duringCommand, conversations: known.length, inputs, ...stored }
  })
