/**
 * One target on its virtual machine: opens it, runs inputs through it one after the other, closes it, and detects the
 * violations that every edge has in common: defects, inputs that never return, leaked fibers and counts.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { type Edge, type Target, type Verdict, Violation } from "./Edge.ts"
import { type Bounds, describeDefect, type Ended, VirtualMachine } from "./VirtualMachine.ts"

/** Virtual milliseconds that background work of an input may take to end after the input has returned. */
const settleMs = 60_000

const broken = (message: string) => new Violation({ law: "L13", message })

const violationOf = (ended: Ended<unknown, Violation>): Violation | undefined => {
  if (ended === "stuck") return broken("never returns: waits for something that never happens")
  if (ended === "endless") return broken("does not return within its bounds")
  if (Exit.isSuccess(ended)) return undefined
  const failure = ended.cause.reasons.find(Cause.isFailReason)
  if (failure !== undefined) return failure.error
  const defect = ended.cause.reasons.find(Cause.isDieReason)
  return broken(defect === undefined ? "was interrupted" : describeDefect(defect.defect))
}

type Sizes = Readonly<Record<string, number>>

/** One target with the sizes it had when it was opened. */
export class Attempt {
  private readonly machine: VirtualMachine
  private readonly scope: Scope.Closeable
  private readonly target: Target
  private readonly bounds: Bounds
  private readonly baseline: Sizes

  private constructor(
    { maxVirtualMs }: Edge,
    machine: VirtualMachine,
    scope: Scope.Closeable,
    target: Target,
  ) {
    this.bounds = maxVirtualMs === undefined ? {} : { maxVirtualMs }
    this.machine = machine
    this.scope = scope
    this.target = target
    this.baseline = this.sizes()
  }

  /** Opens a target on a new machine; fails with a violation when the target cannot be opened. */
  static open(edge: Edge): Effect.Effect<Attempt, Violation> {
    return Effect.gen(function* () {
      const machine = new VirtualMachine(edge.turnsBeforeTime)
      const scope = yield* Scope.make()
      const opened = yield* machine.run(Scope.provide(edge.open, scope))
      const violation = violationOf(opened)
      if (violation !== undefined) return yield* violation
      if (typeof opened === "string" || Exit.isFailure(opened)) return yield* broken(String(opened))
      return new Attempt(edge, machine, scope, opened.value)
    })
  }

  private sizes(): Sizes {
    return {
      ...this.target.sizes?.(),
      ...(this.target.keepsWork === true
        ? {}
        : { fibers: this.machine.fibers, sleepers: this.machine.sleeping }),
    }
  }

  private grown(): string | undefined {
    const grown = Object.entries(this.sizes()).filter(
      ([name, count]) => count > (this.baseline[name] ?? 0),
    )
    return grown.length === 0
      ? undefined
      : grown
          .map(([name, n]) => `${name}: ${this.baseline[name] ?? 0} before, ${n} after`)
          .join(", ")
  }

  private readonly leftBehind: Effect.Effect<void, Violation> = Effect.suspend(() => {
    if (this.grown() === undefined) return Effect.void
    return Effect.flatMap(this.machine.run(Effect.sleep(settleMs)), () => {
      const grown = this.grown()
      return grown === undefined
        ? Effect.void
        : Effect.fail(new Violation({ law: "memory", message: `left behind: ${grown}` }))
    })
  })

  private readonly faultless: Effect.Effect<void, Violation> = Effect.suspend(() => {
    const [fault] = this.machine.takeFaults()
    return fault === undefined ? Effect.void : Effect.fail(broken(fault))
  })

  /** Runs one input and everything that it causes; fails with the first violation. */
  run(input: Uint8Array): Effect.Effect<Verdict, Violation> {
    return Effect.suspend(() => this.machine.run(this.target.run(input), this.bounds)).pipe(
      Effect.flatMap((ended) => {
        const violation = violationOf(ended)
        if (violation !== undefined) return Effect.fail(violation)
        const verdict: Verdict =
          typeof ended !== "string" && Exit.isSuccess(ended) ? ended.value : "rejected"
        return Effect.as(Effect.andThen(this.leftBehind, this.faultless), verdict)
      }),
    )
  }

  /** Ends and closes the target; fails with a violation when either does. */
  readonly close: Effect.Effect<void, Violation> = Effect.suspend(() =>
    this.machine.run(
      Effect.ensuring(this.target.end ?? Effect.void, Scope.close(this.scope, Exit.void)),
    ),
  ).pipe(
    Effect.flatMap((ended) => {
      const violation = violationOf(ended)
      return violation === undefined ? this.faultless : Effect.fail(violation)
    }),
  )
}
