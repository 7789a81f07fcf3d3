/**
 * Detects a second copy of Effect: the program runs on one, and this package imports another. Package managers install
 * two where the wanted versions differ. Two copies do not recognize each other's classes and references, so that services
 * are missing, clocks of tests do not apply and errors are not caught, each far from the cause. This check fails at once
 * and names the cause.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { getCurrentVersion } from "effect/Version"

/** The program runs on another copy of Effect than the one that this package imports. */
export class SecondEffectCopy extends Data.TaggedError("SecondEffectCopy")<{
  /** Version of the copy that this package imports. */
  readonly version: string
}> {
  override get message(): string {
    return (
      `two copies of the package "effect" are loaded: Colloquy imports version ${this.version}, and the program ` +
      `runs on another copy. Install one version of effect that satisfies all packages: npm ls effect lists the copies, ` +
      `npm dedupe removes those that are not needed`
    )
  }
}

/** The class of the fibers of the copy that this package imports; each copy has a separate one. */
const ownFibers = (): unknown => Object.getPrototypeOf(Effect.runFork(Effect.void))

/** True for a fiber of the copy that this package imports. */
export const isOwnFiber = (fiber: object): boolean => Object.getPrototypeOf(fiber) === ownFibers()

/** Dies with a `SecondEffectCopy` where the running fiber is one of another copy. */
export const requireOneCopy: Effect.Effect<void> = Effect.withFiber((fiber) =>
  isOwnFiber(fiber)
    ? Effect.void
    : Effect.die(new SecondEffectCopy({ version: getCurrentVersion() })),
)
