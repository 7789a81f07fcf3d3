/** Starts the program of `notify` on this machine. Loaded on first use by `LazyNotify`. */
import type { CompletedTurn } from "@colloquy/core/decider/CompletedTurn"
import { CommandRunner } from "@colloquy/tools/process/CommandRunner"
import type { StartTurns } from "@colloquy/tools/process/StartTurns"
import { type NotifyFailed, type NotifyParts, run } from "@colloquy/tools/notify/NotifyProgram"
import { TrustedPrograms } from "@colloquy/tools/programs/TrustedPrograms"
import * as NodePlatform from "./NodePlatform.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** The environment and the directory that the program gets. */
export type NotifyOptions = Pick<NotifyParts, "environment" | "secretNames" | "cwd">

/** Starts the program for a completed turn; resolves when it has exited. */
export type Notify = (
  command: readonly [string, ...ReadonlyArray<string>],
  turn: CompletedTurn,
) => Effect.Effect<void, NotifyFailed>

/** Creates the function; its services are released with the scope. */
export const make = (
  options: NotifyOptions,
  programs: Layer.Layer<StartTurns | TrustedPrograms>,
  scope: Scope.Scope,
): Effect.Effect<Notify> =>
  Effect.map(
    Layer.buildWithScope(
      Layer.provideMerge(CommandRunner.layer, Layer.merge(NodePlatform.layer, programs)),
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
