/**
 * What one connection has running outside of threads: commands, watches and sessions of searches, by the ids that its client
 * has chosen. All of it ends with the scope in which it was created.
 */
import type { TerminalSize } from "@colloquy/protocol/thread/Commands"
import type * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Queue from "effect/Queue"
import type { Done } from "effect/Cause"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { CommandInput } from "./CommandInput.ts"
import * as SkillWatches from "./SkillWatches.ts"

/** A command that runs. */
export interface RunningCommand {
  /** What its standard input reads; absent: that is empty. */
  readonly input?: CommandInput
  /** The sizes that its terminal gets; absent: it has none. */
  readonly sizes?: Queue.Queue<TerminalSize, Done>
  /** Completing it ends the command. */
  readonly terminated: Deferred.Deferred<void>
}

/** A session of searches. */
interface SearchSession {
  readonly roots: ReadonlyArray<string>
  /** The running search, if any. */
  running?: Fiber.Fiber<void>
}

/** See the header. */
export interface HostConnection {
  readonly scope: Scope.Scope
  readonly commands: Map<string, RunningCommand>
  readonly watches: Map<string, Fiber.Fiber<void>>
  readonly searches: Map<string, SearchSession>
  /**
   * Held by a request that changes a session, because it waits for the end of the running search: a second request
   * would start another search meanwhile, and neither would end the other.
   */
  readonly searchPermit: Semaphore.Semaphore
  /** Watches of the directories whose skills the client has listed. */
  readonly skills: SkillWatches.SkillWatches
}

/** Creates the state of one connection. */
export const make: Effect.Effect<HostConnection, never, Scope.Scope> = Effect.map(
  Effect.scope,
  (scope) => ({
    scope,
    commands: new Map(),
    watches: new Map(),
    searches: new Map(),
    searchPermit: Semaphore.makeUnsafe(1),
    skills: SkillWatches.make(scope),
  }),
)
