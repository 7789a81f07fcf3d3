/** The directories of this machine. */
import { stat } from "node:fs/promises"
import * as Cache from "effect/Cache"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { Workspaces } from "../Workspaces.ts"

/**
 * How long a directory that was found counts as there. It is looked for at the start of each turn, and that costs up to a
 * tenth of a short one. A tool that runs in a directory that was removed meanwhile reports it.
 */
const foundFor = Duration.seconds(5)

/** Most directories whose finding is kept. */
const maxFound = 1000

const isDirectory = (path: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    ),
  )

const timeToLive = (exit: Exit.Exit<boolean>): Duration.Duration =>
  Exit.isSuccess(exit) && exit.value ? foundFor : Duration.zero

/** A directory exists where the file system of this process has it. */
export const layer: Layer.Layer<Workspaces> = Layer.effect(
  Workspaces,
  Effect.map(Cache.makeWith(isDirectory, { capacity: maxFound, timeToLive }), (found) => ({
    exists: (cwd) => Cache.get(found, cwd),
  })),
)
