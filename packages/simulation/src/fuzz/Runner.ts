/**
 * Runs the inputs of one edge, counts their results, and finds for the first input of each kind of violation the shortest
 * input that shows it. The same seed gives the same report, except for times and the size of the heap.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Attempt } from "./Attempt.ts"
import { type Edge, type FuzzLaw, Violation } from "./Edge.ts"
import { hash, inputOf } from "./Inputs.ts"
import { shrinkBytes, shrinkList } from "./Shrink.ts"

/** One kind of violation. */
export interface Finding {
  readonly law: FuzzLaw
  readonly message: string
  /** Number of the first input that showed it. */
  readonly index: number
  /** The shortest inputs found that show it on a new target, in order; usually one. Empty when no new target shows it. */
  readonly inputs: ReadonlyArray<Uint8Array>
}

/** The result of one edge. */
export interface EdgeReport {
  readonly edge: string
  readonly inputs: number
  readonly accepted: number
  readonly rejected: number
  /** Inputs that broke a law. */
  readonly violations: number
  /** One finding per kind of violation. */
  readonly findings: ReadonlyArray<Finding>
  /** Real time of the whole run. */
  readonly elapsedMs: number
  /** Real time of the slowest input. */
  readonly slowestMs: number
  /** Growth of the heap from the end of the first fifth of the inputs to the end; undefined without `heapBytes`. */
  readonly heapGrowthBytes: number | undefined
  /** Hash of all inputs and their results: equal for equal runs. */
  readonly digest: string
}

/** How an edge is run. */
export interface RunOptions {
  readonly seed: number
  /** Number of inputs, including the corpus. */
  readonly inputs: number
  /** Measures the bytes of the heap after a garbage collection. */
  readonly heapBytes?: Effect.Effect<number>
  /** Largest growth of the heap that is no violation. Default 32 MiB: code that is compiled late takes a few. */
  readonly maxHeapGrowthBytes?: number
  /** Returns and clears the faults outside of fibers, such as an uncaught exception of the process. */
  readonly takeFaults?: () => ReadonlyArray<string>
  /** Number of kinds of violations after which the edge ends. Default 5. */
  readonly maxFindings?: number
}

const defaultInputsPerTarget = 1_000

/** Real time that an input may take. An input of at most 16 KiB that takes longer takes more than linear time; load alone costs far less. */
const maxInputMs = 10_000

/** The kind of a violation: its message without quoted texts and numbers, because violations of one kind differ in ids and lengths. */
const kindOf = ({ law, message }: Violation): string =>
  `${law} ${message.replaceAll(/"(?:[^"\\]|\\.)*"|\d+/g, "_").slice(0, 120)}`

/** Runs the inputs in order on a new target; resolves to the first violation, if any. */
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

/** The shortest inputs that show the violation again; empty when a new target does not show it. */
const shortestInputs = (
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

/** One run of one edge while it proceeds. */
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

  private recordViolation(index: number, violation: Violation): Effect.Effect<void> {
    this.violations++
    const kind = kindOf(violation)
    const { history } = this
    this.attempt = undefined
    this.history = []
    if (this.findings.has(kind)) return Effect.void
    const { law, message } = violation
    this.findings.set(kind, { law, message, index, inputs: [] })
    return Effect.map(shortestInputs(this.edge, violation, history), (inputs) => {
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
        return this.recordViolation(index, violation)
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
    return Effect.catch(this.close, (violation) => this.recordViolation(index, violation))
  }

  /** Measures while no target is open, because the state of an open target is no leak of an input. */
  private measure(index: number): Effect.Effect<void> {
    const { heapBytes } = this.options
    if (heapBytes === undefined) return Effect.void
    return Effect.map(Effect.andThen(this.closeAfter(index), heapBytes), (bytes) => {
      this.firstHeap ??= bytes
      this.lastHeap = bytes
    })
  }

  private recordHeap(index: number): void {
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
    this.recordHeap(index)
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

/** Runs the inputs of an edge. Never fails: violations are in the report. */
export const runEdge = (edge: Edge, options: RunOptions): Effect.Effect<EdgeReport> =>
  Effect.suspend(() => new Run(edge, options).whole)

/** Runs exactly these inputs on a new target; resolves to the first violation, if any. */
export const runInputs = replay
