/**
 * Owns one state directory and the server processes that run on it, one after the other. In each life the client
 * checks what the earlier processes left behind, gives the server work, and kills it at a moment that the seed chooses.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { awaitGone } from "../support/Processes.ts"
import * as Server from "../support/Server.ts"
import * as Acts from "./ClientActions.ts"
import * as Dice from "./Dice.ts"
import { judge, rolloutsOf, wholeLines } from "./Rollout.ts"
import * as Told from "./Told.ts"

interface Lane {
  readonly dice: Dice.Dice
  readonly home: string
  readonly cwd: string
  readonly told: Told.Told
  readonly sleepers: Map<string, string>
  /** Whether a turn that a kill interrupted is continued after the restart, in `maxAttempts` lives at most. */
  readonly goesOn: boolean
  early: number
  caught: number
}

/** Totals of one lane, over all of its lives. */
export interface Tally {
  readonly kills: number
  /** Kills that came before the checks at the start of the life had finished. */
  readonly early: number
  /** Kills while a command was running whose output the client had already received. */
  readonly caught: number
  readonly conversations: number
  readonly inputs: number
  readonly events: number
}

const maxAttempts = 3

/** A violation that was found. `run` adds the seed, the number of the life and the path of the state directory. */
export class Broken extends Data.TaggedError("Broken")<{ readonly message: string }> {}

const broken = (message: string) => new Broken({ message })

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
const moment = ({ dice }: Lane, { child, frames }: Server.Server): Effect.Effect<void> => {
  const [kind, size] = dice.pick([
    ["delay", dice.below(60)],
    ["delay", dice.below(250)],
    ["lines", 1 + dice.below(40)],
    ["chars", dice.below(20_000)],
    ["chars", dice.below(600_000)],
  ] as const)
  const atMost = Effect.sleep(150 + dice.below(150))
  if (kind === "delay") return Effect.sleep(size)
  const begun = frames.length
  let chars = 0
  const heard = Effect.callback<void>((resume) => {
    const onData = (text: string) => {
      chars += text.length
      const reached = kind === "lines" ? frames.length - begun : chars
      if (reached >= size) resume(Effect.void)
    }
    child.stdout.on("data", onData)
    return Effect.sync(() => child.stdout.off("data", onData))
  })
  return Effect.raceFirst(heard, atMost)
}

/** Records every event of the server as soon as it arrives. */
const listen = (server: Server.Server, { told }: Lane, life: number): void => {
  let read = 0
  server.child.stdout.on("data", () => {
    for (const frame of server.frames.slice(read)) {
      if (frame.method !== "codex/event") continue
      const call = String(frame.params?._meta?.requestId)
      told.event(frame, `${life}/${call}`)
    }
    read = server.frames.length
  })
}

const onDisk = ({ home, told }: Lane): ReadonlyArray<string> => [
  ...told.open,
  ...[...rolloutsOf(home).keys()].filter((id) => !told.conversations.has(id)),
]

/** Checks that the next turn of each conversation works, including conversations that the client never learned of. */
const replies = (lane: Lane, { number, server, told }: Acts.Life) =>
  Effect.forEach(
    new Set(onDisk(lane)),
    Effect.fnUntraced(function* (thread) {
      const call = `check-${number}-${thread}`
      const words = `check ${number}.`
      server.call(call, "codex-reply", { threadId: thread, prompt: `say ${words}` })
      const text = Server.textOf(yield* server.answer(call))
      // The process was killed while it created this conversation: no client received its id, and the first lines of
      // its file are incomplete.
      if (!told.conversations.has(thread) && text?.startsWith("Session not found") === true) return
      if (text !== words) throw broken(`codex-reply of ${thread} says: ${text}`)
      told.of(thread).inputs.add(`say ${words}`)
    }),
    { concurrency: 4, discard: true },
  )

/** Compares the files with what the client received. Returns the number of events in the files. */
const compare = ({ cwd, goesOn, home, told }: Lane, ids: Iterable<string>): number => {
  const rollouts = rolloutsOf(home)
  let events = 0
  for (const id of ids) {
    const path = rollouts.get(id)
    if (path === undefined) throw broken(`conversation ${id} is not there`)
    const judged = judge(path)
    const faults = [...judged.faults, ...Told.broken(told.of(id), judged, readFileSync(path))]
    if (faults.length > 0) throw broken(`${path}:\n  ${faults.join("\n  ")}`)
    events += judged.events.length
  }
  for (const name of readdirSync(cwd)) {
    if (!name.startsWith("ran-")) continue
    const times = readFileSync(join(cwd, name), "utf8").split("\n").length - 1
    // With `on_restart = "continue"` the client accepts the question whether the command may run again.
    if (times < 1 || times > (goesOn ? maxAttempts : 1))
      throw broken(`${name}: the command ran ${times} times`)
  }
  return events
}

/** Remembers the files' whole lines after a process has exited: no later process may change them. */
const noteFiles = (lane: Lane): void => {
  const rollouts = rolloutsOf(lane.home)
  for (const id of lane.told.open) {
    const path = rollouts.get(id)
    if (path === undefined) continue
    const { lines } = lane.told.of(id)
    lines.splice(0, lines.length, wholeLines(path))
  }
}

/** Declines to run a long-running command again during the checks, and accepts every other question. */
const takeUp =
  ({ sleepers }: Lane) =>
  (question: Server.Frame) => {
    const text = JSON.stringify(question)
    return [...sleepers.values()].some((seconds) => text.includes(seconds)) ? "decline" : "accept"
  }

/** Checks that no command of a killed server is still running. */
const atRest = Effect.fnUntraced(function* ({ sleepers }: Lane) {
  for (const seconds of sleepers.values()) {
    const left = yield* Effect.promise(() => awaitGone([], seconds))
    if (left.length > 0) throw broken(`processes ${left.join(", ")} of a dead server run on`)
  }
  sleepers.clear()
})

const started = Effect.fnUntraced(function* (lane: Lane, number: number) {
  const server = yield* Server.start({ home: lane.home, mayBreakOff: true })
  const { cwd, dice, sleepers, told } = lane
  listen(server, lane, number)
  return { server, told, dice, number, cwd, sleepers } satisfies Acts.Life
})

/**
 * Checks that the server initializes, that its files still hold everything the client received, and that no process of
 * an earlier life is running.
 */
const checked = Effect.fnUntraced(function* (lane: Lane, life: Acts.Life) {
  life.server.send(initialize)
  yield* life.server.answer("initialize")
  yield* Effect.raceFirst(replies(lane, life), Acts.answerQuestions(life, takeUp(lane)))
  compare(lane, lane.told.open)
  lane.told.open.clear()
  yield* atRest(lane)
})

/** One life: starts a server, checks it, gives it work and kills it. */
const live = (lane: Lane, number: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    const isEarly = lane.dice.chance(0.2)
    const life = yield* started(lane, number)
    if (isEarly) {
      const death = Effect.sleep(100 + lane.dice.below(500))
      const isDead = Effect.as(death, true)
      if (yield* Effect.raceFirst(Effect.as(checked(lane, life), false), isDead)) lane.early++
    } else {
      yield* checked(lane, life)
      const isCaught = lane.dice.chance(0.15)
      const begun = isCaught ? Acts.sleeper(life) : Effect.void
      const death = Effect.andThen(begun, moment(lane, life.server))
      yield* Effect.raceFirst(Acts.run(life), death)
      if (isCaught) lane.caught++
    }
    yield* kill(life.server)
    yield* life.server.exit
    noteFiles(lane)
  }).pipe(Effect.scoped)

/** The last life checks every conversation once more and exits regularly when its input ends. */
const last = (lane: Lane, number: number): Effect.Effect<number> =>
  Effect.gen(function* () {
    const life = yield* started(lane, number)
    for (const id of lane.told.conversations.keys()) lane.told.open.add(id)
    yield* checked(lane, life)
    life.server.child.stdin.end()
    const { code } = yield* life.server.exit
    if (code !== 0) throw broken(`the last server left with ${code}`)
    return compare(lane, lane.told.conversations.keys())
  }).pipe(Effect.scoped)

/** @param seed seed of every draw; even seeds run with `on_restart = "continue"` */
export const run = (seed: number, kills: number): Effect.Effect<Tally, Broken> =>
  Effect.gen(function* () {
    const home = mkdtempSync(join(tmpdir(), "colloquy-crash-"))
    const cwd = join(home, "work")
    mkdirSync(cwd)
    const goesOn = seed % 2 === 0
    const config = `model_provider = "offline"\n${goesOn ? 'on_restart = "continue"\n' : ""}`
    writeFileSync(join(home, "config.toml"), config)
    const lane: Lane = {
      dice: Dice.make(seed),
      home,
      cwd,
      told: Told.make(),
      sleepers: new Map(),
      goesOn,
      early: 0,
      caught: 0,
    }
    let number = 0
    const events = yield* Effect.gen(function* () {
      for (; number < kills; number++) yield* live(lane, number)
      return yield* last(lane, number)
    }).pipe(
      // A failure keeps the files for inspection.
      Effect.catchCause((cause) =>
        Effect.fail(broken(`seed ${seed}, life ${number}, ${home}:\n${Cause.pretty(cause)}`)),
      ),
    )
    rmSync(home, { recursive: true, force: true })
    const known = [...lane.told.conversations.values()]
    const inputs = known.reduce((sum, one) => sum + one.inputs.size, 0)
    const { early, caught } = lane
    return { kills, early, caught, conversations: known.length, inputs, events }
  })
