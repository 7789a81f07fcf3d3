/** Starts the program of `notify` on this machine. Loaded with the first turn that it is notified of. */
import type { CompletedTurn } from "@colloquy/core/decider/CompletedTurn"
import { CommandRunner } from "@colloquy/tools/process/CommandRunner"
import { type NotifyFailed, type NotifyParts, run } from "@colloquy/tools/notify/NotifyProgram"
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as MachinePrograms from "./MachinePrograms.ts"

export type NotifyOptions = Pick<NotifyParts, "environment" | "secretNames" | "cwd">

export type Notify = (
  command: readonly [string, ...ReadonlyArray<string>],
  turn: CompletedTurn,
) => Effect.Effect<void, NotifyFailed>

/** What it needs ends with the scope. */
export const make = (options: NotifyOptions, scope: Scope.Scope): Effect.Effect<Notify> =>
  Effect.map(
    Layer.buildWithScope(
      Layer.provideMerge(
        CommandRunner.layer,
        Layer.merge(NodeServices.layer, MachinePrograms.layer(options.environment)),
      ),
      scope,
    ),
    (services) => {
      const parts = {
        ...options,
        programs: Context.get(services, TrustedPrograms),
        runner: Context.get(services, CommandRunner),
      }
      return (command, turn) => run(parts, command, turn)
    },
  )
