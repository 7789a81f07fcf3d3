/**
 * Where the time of a warm reply goes, seen from outside the product: the client and the provider note times on the
 * clock that all processes share, and `PhaseMarks.mjs`, loaded before the program, notes its syncs and its requests.
 */
import * as Effect from "effect/Effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { summarize } from "../Stats.ts"
import { ours, start } from "./Contender.ts"
import type { Phase } from "./Figures.ts"
import * as ProviderProcess from "./ProviderProcess.ts"
import * as Session from "./Session.ts"

const preload = fileURLToPath(new URL("../peers/PhaseMarks.mjs", import.meta.url))

/** Time of a turn that is not measured: one tenth of them at least, so that a short run has one too. */
const warmUpShare = 0.1

/** A turn as its client saw it. */
interface Turn {
  readonly sentNs: bigint
  readonly answeredNs: bigint
}

/** A note of the program or of the provider. */
interface Mark {
  readonly name: string
  readonly atNs: bigint
}

const marksOf = (text: string): ReadonlyArray<Mark> =>
  text
    .trim()
    .split("\n")
    .map((line) => {
      const [name = "", at = "0"] = line.split(" ")
      return { name, atNs: BigInt(at) }
    })

/** The phases of one turn, `NaN` where a mark is missing; each ends no earlier than it begins. */
export const phasesOf = (turn: Turn, marks: ReadonlyArray<Mark>): ReadonlyArray<Phase> => {
  const within = marks.filter(({ atNs }) => atNs >= turn.sentNs && atNs <= turn.answeredNs)
  const at = (atNs: bigint) => Number(atNs - turn.sentNs) / 1e6
  const all = (name: string) =>
    within.filter((mark) => mark.name === name).map(({ atNs }) => at(atNs))
  const [came = Number.NaN] = all("came")
  const [wrote = Number.NaN] = all("wrote")
  const end = at(turn.answeredNs)
  // The input's sync may end after the provider's answer: a sync belongs where it begins.
  const begun = all("syncing")
  const ended = all("synced")
  const inputs = begun.filter((time) => time < wrote).length
  const [syncing = Number.NaN] = begun.slice(0, inputs)
  const synced = ended.slice(0, inputs).at(-1) ?? Number.NaN
  const [asking = Number.NaN] = all("asking")
  const [resyncing = Number.NaN] = begun.slice(inputs)
  const resynced = ended.slice(inputs, begun.length).at(-1) ?? Number.NaN
  return [
    { title: "request read and decided", fromMs: 0, untilMs: Math.min(syncing, asking) },
    { title: "input recorded and synced", fromMs: syncing, untilMs: synced },
    { title: "provider request sent", fromMs: asking, untilMs: came },
    { title: "provider", fromMs: came, untilMs: wrote },
    { title: "answer read", fromMs: wrote, untilMs: resyncing },
    { title: "answer recorded and synced", fromMs: resyncing, untilMs: resynced },
    { title: "response sent", fromMs: resynced, untilMs: end },
  ]
}

/**
 * The median of the beginnings and of the ends of each phase, over the turns that have both marks of it, so that no
 * phase ends before it begins.
 */
export const medians = (turns: ReadonlyArray<ReadonlyArray<Phase>>): ReadonlyArray<Phase> =>
  (turns[0] ?? []).map(({ title }, index) => {
    const whole = turns
      .flatMap((turn) => turn[index] ?? [])
      .filter(({ fromMs, untilMs }) => Number.isFinite(fromMs) && Number.isFinite(untilMs))
    const middle = (of: (phase: Phase) => number) =>
      Math.round(summarize(whole.map(of)).median * 1000) / 1000
    return {
      title,
      fromMs: middle(({ fromMs }) => fromMs),
      untilMs: middle(({ untilMs }) => untilMs),
    }
  })

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-bench-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true })),
)

/** Measures so many replies; the median of the beginning and the end of each part. */
export const phases = Effect.fn("bench.phases")(function* (bin: string, replies: number) {
  const file = join(yield* temporary, "marks")
  const provider = yield* ProviderProcess.make(1, true)
  const [node, ...args] = ours(bin).argv
  const argv: Session.Command["argv"] = [node, "--import", preload, ...args]
  const turns: Array<Turn> = []
  yield* Effect.gen(function* () {
    const session = yield* start({ argv }, provider.baseUrl, { COLLOQUY_BENCH_MARKS: file })
    const conversation = Session.conversationOf(yield* session.codex("begin"))
    for (let turn = 0; turn < replies; turn++) {
      const sentNs = process.hrtime.bigint()
      yield* session.reply(conversation, "go on")
      turns.push({ sentNs, answeredNs: process.hrtime.bigint() })
    }
  }).pipe(Effect.scoped)
  const marks = [
    ...marksOf(readFileSync(file, "utf8")),
    ...provider.marks().flatMap((line) => {
      const [came = "0", wrote = "0"] = line.split(" ")
      return marksOf(`came ${came}\nwrote ${wrote}`)
    }),
  ]
  return medians(turns.slice(Math.ceil(replies * warmUpShare)).map((turn) => phasesOf(turn, marks)))
}, Effect.scoped)
