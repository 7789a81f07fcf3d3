/**
 * Runs the inputs of one edge, counts what became of them, and explains the first input of each kind of violation by the
 * shortest one that does the same. The same seed gives the same report, but for times and the size of the heap.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Attempt } from "./Attempt.ts"
import { type Edge, type FuzzLaw, Violation } from "./Edge.ts"
import { hash, inputOf } from "./Inputs.ts"
import { shrinkBytes, shrinkList } from "./Shrink.ts"

export interface Finding {
  readonly law: FuzzLaw
  readonly message: string
  /** Number of the input that showed it. */
  readonly index: number
  /** The shortest inputs found that show it on a new target, in order; mostly one. Empty where no new target shows it. */
  readonly inputs: ReadonlyArray<Uint8Array>
}

export interface EdgeReport {
  readonly edge: string
  readonly inputs: number
  readonly accepted: number
  readonly rejected: number
  /** Inputs that broke a law. */
  readonly violations: number
  /** One of each kind. */
  readonly findings: ReadonlyArray<Finding>
  readonly elapsedMs: number
  readonly slowestMs: number
  /** Growth between the first fifth of the inputs and the end; undefined without a probe. */
  readonly heapGrowthBytes: number | undefined
  /** Of all inputs and what became of them: equal for equal runs. */
  readonly digest: string
}

export interface RunOptions {
  readonly seed: number
  readonly inputs: number
  /** Bytes of the heap after a garbage collection. */
  readonly heapBytes?: Effect.Effect<number>
  /** Growth of the heap that is a violation. Default 32 MiB: code that is compiled late takes a few. */
  readonly maxHeapGrowthBytes?: number
  /** Faults that no fiber sees, such as an uncaught exception of the process; emptied by the call. */
  readonly takeFaults?: () => ReadonlyArray<string>
  /** Kinds of violations after which the edge ends. Default 5. */
  readonly maxFindings?: number
}

const defaultInputsPerTarget = 1_000

/** An input of at most 16 KiB that takes this long takes more than linear time. Machines under load are slow by far less. */
const maxInputMs = 10_000

/** Violations of one kind differ in ids and lengths. */
const kindOf = ({ law, message }: Violation): string =>
  `${law} ${message.replaceAll(/"(?:[^"\\]|\\.)*"|\d+/g, "_").slice(0, 120)}`

/** The violation of the last input, after those before it, on a new target. */
const replay = (
  edge: Edge,
  inputs: ReadonlyArray<Uint8Array>,
): Effect.Effect<Violation | undefined> =>
  Effect.gen(function* () {
    const attempt = yield* Attempt.open(edge)
    for (const input of inputs) yield* attempt.run(input)
    yield* attempt.close
    return undefined
  }).pipe(Effect.catch((violation) => Effect.succeed(violation)))

const explain = (
  edge: Edge,
  violation: Violation,
  history: ReadonlyArray<Uint8Array>,
): Effect.Effect<ReadonlyArray<Uint8Array>> =>
  Effect.gen(function* () {
    const kind = kindOf(violation)
    const fails = (inputs: ReadonlyArray<Uint8Array>) =>
      Effect.map(replay(edge, inputs), (again) => again !== undefined && kindOf(again) === kind)
    const alone = history.slice(-1)
    const all = (yield* fails(alone)) ? alone : history
    if (all !== alone && !(yield* fails(all))) return []
    let { shortest } = yield* shrinkList(all, fails)
    for (const at of shortest.keys()) {
      const rest = shortest
      const { shortest: input } = yield* shrinkBytes(rest[at] ?? new Uint8Array(), (candidate) =>
        fails(rest.with(at, candidate)),
      )
      shortest = rest.with(at, input)
    }
    return shortest
  })

class Run {
  private readonly edge: Edge
  private readonly options: RunOptions
  private readonly findings = new Map<string, Finding>()
  private attempt: Attempt | undefined
  private history: Array<Uint8Array> = []
  private accepted = 0
  private rejected = 0
  private violations = 0
  private slowestMs = 0
  private digest = 0x811c9dc5
  private firstHeap: number | undefined
  private lastHeap: number | undefined

  constructor(edge: Edge, options: RunOptions) {
    this.edge = edge
    this.options = options
  }

  private noteViolation(index: number, violation: Violation): Effect.Effect<void> {
    this.violations++
    const kind = kindOf(violation)
    const { history } = this
    this.attempt = undefined
    this.history = []
    if (this.findings.has(kind)) return Effect.void
    const { law, message } = violation
    this.findings.set(kind, { law, message, index, inputs: [] })
    return Effect.map(explain(this.edge, violation, history), (inputs) => {
      this.options.takeFaults?.()
      this.findings.set(kind, { law, message, index, inputs })
    })
  }

  private readonly faultless: Effect.Effect<void, Violation> = Effect.suspend(() => {
    const [fault] = this.options.takeFaults?.() ?? []
    return fault === undefined
      ? Effect.void
      : Effect.fail(new Violation({ law: "L13", message: fault }))
  })

  private timed(startMs: number): Effect.Effect<void, Violation> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const ms = now - startMs
      this.slowestMs = Math.max(this.slowestMs, ms)
      return ms <= maxInputMs
        ? Effect.void
        : Effect.fail(new Violation({ law: "L13", message: `takes more than ${maxInputMs} ms` }))
    })
  }

  private one(index: number): Effect.Effect<void> {
    const input = inputOf(this.edge, this.options.seed, index)
    const done = (code: number) => {
      this.digest = hash(Uint8Array.of(code), hash(input, this.digest))
    }
    return Effect.gen({ self: this }, function* () {
      this.attempt ??= yield* Attempt.open(this.edge)
      this.history.push(input)
      const startMs = yield* Clock.currentTimeMillis
      const verdict = yield* this.attempt.run(input)
      yield* this.timed(startMs)
      yield* this.faultless
      if (verdict === "accepted") this.accepted++
      else this.rejected++
      done(verdict === "accepted" ? 1 : 0)
      if (this.history.length >= (this.edge.inputsPerTarget ?? defaultInputsPerTarget)) {
        yield* this.close
      }
    }).pipe(
      Effect.catch((violation) => {
        done(2)
        return this.noteViolation(index, violation)
      }),
    )
  }

  private readonly close: Effect.Effect<void, Violation> = Effect.suspend(() => {
    const { attempt } = this
    if (attempt === undefined) return Effect.void
    return Effect.map(Effect.andThen(attempt.close, this.faultless), () => {
      this.attempt = undefined
      this.history = []
    })
  })

  private closeAfter(index: number): Effect.Effect<void> {
    return Effect.catch(this.close, (violation) => this.noteViolation(index, violation))
  }

  /** Measured while no target is open: what a target keeps is not what inputs leave behind. */
  private measure(index: number): Effect.Effect<void> {
    const { heapBytes } = this.options
    if (heapBytes === undefined) return Effect.void
    return Effect.map(Effect.andThen(this.closeAfter(index), heapBytes), (bytes) => {
      this.firstHeap ??= bytes
      this.lastHeap = bytes
    })
  }

  private noteHeap(index: number): void {
    const growth = this.heapGrowth()
    const max = this.options.maxHeapGrowthBytes ?? 32 * 1024 * 1024
    if (growth === undefined || growth <= max) return
    this.violations++
    const message = `the heap grew by more than ${max} bytes`
    this.findings.set("memory", { law: "memory", message, index, inputs: [] })
  }

  private heapGrowth(): number | undefined {
    return this.firstHeap === undefined || this.lastHeap === undefined
      ? undefined
      : this.lastHeap - this.firstHeap
  }

  readonly whole: Effect.Effect<EdgeReport> = Effect.gen({ self: this }, function* () {
    const { inputs, maxFindings = 5 } = this.options
    const startMs = yield* Clock.currentTimeMillis
    const warm = Math.floor(inputs / 5)
    let index = 0
    for (; index < inputs && this.findings.size < maxFindings; index++) {
      if (index === warm) yield* this.measure(index)
      yield* this.one(index)
    }
    yield* this.closeAfter(index)
    yield* this.measure(index)
    this.noteHeap(index)
    return {
      edge: this.edge.name,
      inputs: index,
      accepted: this.accepted,
      rejected: this.rejected,
      violations: this.violations,
      findings: [...this.findings.values()],
      elapsedMs: (yield* Clock.currentTimeMillis) - startMs,
      slowestMs: this.slowestMs,
      heapGrowthBytes: this.heapGrowth(),
      digest: this.digest.toString(16).padStart(8, "0"),
    }
  })
}

/** Runs so many inputs of the edge. Never fails: what breaks a law is in the report. */
export const runEdge = (edge: Edge, options: RunOptions): Effect.Effect<EdgeReport> =>
  Effect.suspend(() => new Run(edge, options).whole)

/** Runs exactly these inputs on a new target; gives the violation, if there is one. */
export const runInputs = replay
