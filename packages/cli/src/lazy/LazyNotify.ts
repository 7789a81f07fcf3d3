/**
 * Starts the program that `notify` of `config.toml` names after each completed turn. The key is read from the user's own
 * file when a turn completes. Neither `-c` nor a client's `config` sets it, since the program runs outside the sandbox.
 */
import type { OnTurnCompleted } from "@colloquy/core/decider/CompletedTurn"
import { SettingsError } from "@colloquy/core/ConversationSettings"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import * as TurnNotifier from "@colloquy/tools/notify/TurnNotifier"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { LiveSettings } from "../config/LiveSettings.ts"
import type { NotifyOptions } from "../machine/MachineNotify.ts"
import { SharedPrograms } from "./SharedPrograms.ts"

type Command = readonly [string, ...ReadonlyArray<string>]

const isText = (value: unknown): value is string => typeof value === "string"

/** The command of the key; undefined if it is not set. */
const commandIn = (
  tree: ConfigTree.ConfigTree,
): Effect.Effect<Command | undefined, SettingsError> => {
  const value = ConfigTree.get(tree, "notify")
  if (value === undefined) return Effect.undefined
  const words: ReadonlyArray<unknown> = Array.isArray(value) ? value : [undefined]
  if (!words.every(isText)) {
    return Effect.fail(
      new SettingsError({ message: "expected an array of strings", key: "notify" }),
    )
  }
  const [program, ...args] = words
  return Effect.succeed(program === undefined ? undefined : [program, ...args])
}

/** Running programs are ended with the scope (L8). */
export const make = Effect.fnUntraced(function* (
  { file }: Pick<LiveSettings, "file">,
  options: NotifyOptions,
): Effect.fn.Return<OnTurnCompleted, never, Scope.Scope | SharedPrograms> {
  const programs = yield* SharedPrograms
  // Registered before the notifier, hence closed after it: programs that still run need its services.
  const scope = yield* Effect.acquireRelease(Scope.make(), (own) => Scope.close(own, Exit.void))
  const notify = yield* Effect.cached(
    Effect.promise(() => import("../machine/MachineNotify.ts")).pipe(
      Effect.flatMap((module) => module.make(options, programs.layer, scope)),
    ),
  )
  return yield* TurnNotifier.make((turn) =>
    Effect.flatMap(file, ({ tree }) =>
      Effect.flatMap(commandIn(tree), (command) =>
        command === undefined
          ? Effect.void
          : // Loaded once: a cached effect starts anew when its only caller is interrupted.
            Effect.flatMap(Effect.uninterruptible(notify), (run) => run(command, turn)),
      ),
    ).pipe(Effect.catch(({ message }) => Effect.logWarning(`notify: ${message}`))),
  )
})
